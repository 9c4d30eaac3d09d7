import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { credentialOf } from '../../shared/carry/keys/credential.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { createClient } from '../../shared/identity/memberships/clients.ts';
import { clientCredentials } from '../../shared/identity/tokens/client-authentication.ts';
import { OAuthError } from '../../shared/identity/tokens/token-request.ts';
import {
  callsOf,
  getItem,
  newProject,
  newResource,
  person,
  type Stage,
  spentBy,
  startStage,
} from './stage.ts';

let stage: Stage;
let first: Caller<'administrator'>;
let second: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
  [first, second] = await Promise.all([newProject(stage), newProject(stage)]);
  for (const caller of [first, second]) await invite(caller, person());
});
afterAll(() => stage.stop());

function invite(caller: Caller<'administrator'>, body: unknown) {
  return inviteUser(stage.services, caller, body);
}

async function itemsOf(work: () => Promise<unknown>): Promise<number> {
  return (await spentBy(stage.client, work)).items;
}

async function callsOfInvite(caller: Caller<'administrator'>, body: unknown): Promise<string[]> {
  return (await callsOf(stage.client, () => invite(caller, body))).sort();
}

/** One batch of reads and a Query by e-mail, one transaction, and the rate counter beside them. */
const least = ['BatchGetItem', 'Query', 'TransactWriteItems', 'UpdateItem'];

describe('a warm invite costs one read, one Query beside it, one transaction and the counter', () => {
  test('of a person whom nobody knows', async () => {
    expect(await callsOfInvite(first, person())).toEqual(least);
  });

  test('of a person whom another Project knows', async () => {
    const body = person();
    await invite(second, body);
    expect(await callsOfInvite(first, body)).toEqual(least);
  });

  test('with a policy, a profile and patients', async () => {
    const { project } = first;
    const accessPolicy = { reference: await newResource(stage, project, { resourceType: 'AccessPolicy' }) };
    const profile = { reference: await newResource(stage, project, { resourceType: 'RelatedPerson' }) };
    const patient = { reference: await newResource(stage, project, { resourceType: 'Patient' }) };
    const body = person({ resourceType: 'RelatedPerson', accessPolicy, profile, patient });
    expect(await callsOfInvite(first, body)).toEqual(least.filter((call) => call !== 'Query'));
  });

  test('without mail, with an external id, in the Project only', async () => {
    expect(await callsOfInvite(first, person({ sendEmail: false }))).toEqual(least);
    expect(await callsOfInvite(first, person({ scope: 'project', externalId: 'e1' }))).toEqual(least);
  });

  test('with the same number of actions for a known and an unknown person', async () => {
    const body = person();
    const unknown = await itemsOf(() => invite(first, body));
    const known = await itemsOf(() => invite(second, body));
    expect(unknown).toBeGreaterThan(5);
    expect(known).toBe(unknown);
  });
});

describe('an invite writes at most 20 items, and 44 units with the counter, beside its mail', () => {
  test.each(['Patient', 'Practitioner', 'RelatedPerson'])(
    'of a %s, unknown or known',
    async (resourceType) => {
      const body = person({ resourceType, sendEmail: false });
      for (const caller of [first, second]) {
        const { writes, items, writeUnits: units } = await spentBy(stage.client, () => invite(caller, body));
        expect(writes.sort()).toEqual(['TransactWriteItems', 'UpdateItem']);
        expect([items <= 20, units <= 44, { items, units }]).toEqual([true, true, { items, units }]);
      }
    },
  );

  test('a mail is one item and two units more', async () => {
    const without = await spentBy(stage.client, () => invite(first, person({ sendEmail: false })));
    const mailed = await spentBy(stage.client, () => invite(first, person()));
    expect([mailed.items - without.items, mailed.writeUnits - without.writeUnits]).toEqual([1, 2]);
  });
});

test('an administrator under a policy reads as much, and writes three conditions more', async () => {
  const { project } = first;
  const clinical = [{ resourceType: '*' }, { resourceType: 'Bot', interaction: ['execute'] }];
  const fields = { resourceType: 'AccessPolicy', resource: clinical };
  const [held, given] = [
    await newResource(stage, project, fields),
    await newResource(stage, project, fields),
  ];
  const rights = { admin: true, accessPolicy: { reference: held } };
  const { id } = await createClient(stage.services, first, { name: 'Desk', ...rights });
  const { membershipId } = credentialOf(await getItem(stage.services, keys.client(id))) ?? {
    membershipId: '',
  };
  const loginId = randomUUID();
  await stage.services.table.put({ ...keys.login(loginId), membershipId });
  const profile = `ClientApplication/${id}`;
  const caller = { ...first, membershipId, loginId, profile, clientId: id, subject: id };
  const body = () => person({ sendEmail: false, accessPolicy: { reference: given } });
  await invite(caller, body());
  expect(await callsOfInvite(caller, body())).toEqual(least);
  const narrowed = await spentBy(stage.client, () => invite(caller, body()));
  const root = await spentBy(stage.client, () => invite(first, body()));
  expect([narrowed.items - root.items, narrowed.writeUnits - root.writeUnits]).toEqual([3, 6]);
});

test('an invite of a person whom the Project knows already reads once more', async () => {
  const body = person();
  await invite(first, body);
  expect(await callsOfInvite(first, body)).toEqual([
    ...['BatchGetItem', 'BatchGetItem', 'Query', 'UpdateItem'],
  ]);
});

test('an invite that is refused writes nothing but the counter', async () => {
  const calls = callsOfInvite(first, person({ accessPolicy: { reference: 'AccessPolicy/none' } }));
  await expect(calls).rejects.toMatchObject({ kind: 'invalid' });
  const made = await callsOf(stage.client, () =>
    invite(first, person({ accessPolicy: { reference: 'AccessPolicy/none' } })).catch(() => undefined),
  );
  expect(made.sort()).toEqual(['BatchGetItem', 'Query', 'UpdateItem']);
});

test('an address that stands in many records costs no more reads than are needed to name ten', async () => {
  const { project } = first;
  const body = person({ resourceType: 'Patient' });
  const telecom = [{ system: 'email', value: body.email }];
  for (let n = 0; n < 60; n++) await newResource(stage, project, { resourceType: 'Patient', telecom });
  let refused: unknown;
  const made = await callsOf(stage.client, () => invite(first, body).catch((error) => (refused = error)));
  expect(refused).toMatchObject({ kind: 'conflict', issues: { length: 10 } });
  // The caller and the person, 25 of the records, and whether it is still the same person.
  expect(made.sort()).toEqual(['BatchGetItem', 'BatchGetItem', 'BatchGetItem', 'Query', 'UpdateItem']);
});

test('a stranger cannot make a Project count', async () => {
  const stranger = { ...first, membershipId: 'none' };
  const made = await callsOf(stage.client, () => invite(stranger, person()).catch(() => undefined));
  expect(made.sort()).toEqual(['BatchGetItem', 'Query']);
});

test('a token costs two reads and one write, a wrong secret and an unknown client the two reads', async () => {
  const signer = { kid: 'k', publicJwk: {}, sign: async () => new Uint8Array() };
  const services = { ...stage.services, signer: async () => signer };
  const made = await createClient(services, first, { name: 'Lab' });
  const callsFor = (id: string, secret: string) =>
    callsOf(stage.client, () =>
      clientCredentials(services, {
        parameter: () => undefined,
        client: { id, secret },
        usedBasic: false,
      }).catch((error: unknown) => expect(error).toBeInstanceOf(OAuthError)),
    );
  const reads = ['BatchGetItem', 'BatchGetItem'];
  // The first of an hour notes that the client is used.
  expect(await callsFor(made.id, String(made.secret))).toEqual([...reads, 'PutItem', 'TransactWriteItems']);
  expect(await callsFor(made.id, String(made.secret))).toEqual([...reads, 'PutItem']);
  expect(await callsFor(made.id, 'wrong')).toEqual(reads);
  expect(await callsFor('11111111-2222-4333-8444-555555555555', 'wrong')).toEqual(reads);
});
