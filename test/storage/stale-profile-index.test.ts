import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { indexPartition } from '../../shared/store/index/index-items.ts';
import { tokenBucket } from '../../shared/store/index/token.ts';
import { newProject, newResource, person, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;
beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

/** An index item as a write that was cut off leaves it. */
async function leftOver(email: string, id: string): Promise<void> {
  const { pk } = indexPartition(caller.project, 'Practitioner', 'email', tokenBucket(email));
  await stage.services.table.put({ pk, sk: id });
}

const invite = (body: unknown) => inviteUser(stage.services, caller, body);

test('an index item that leads to a profile without the address, or to none, makes nobody a twin', async () => {
  const body = person();
  const telecom = [{ system: 'email', value: 'another@example.com' }];
  const reference = await newResource(stage, caller.project, { resourceType: 'Practitioner', telecom });
  await leftOver(body.email, reference.replace('Practitioner/', ''));
  await leftOver(body.email, 'gone');
  const made = await invite(body);
  expect(made.profile).not.toMatchObject({ reference });
});

test('of hundreds that have it ten are listed, and bound ones hide none that is free', async () => {
  const body = person();
  const telecom = [{ system: 'email', value: body.email }];
  const fields = { resourceType: 'Practitioner', telecom };
  for (let i = 0; i < 60; i++) {
    const reference = await newResource(stage, caller.project, fields);
    if (i >= 40) continue;
    await invite(person({ profile: { reference } }));
  }
  await expect(invite(body)).rejects.toMatchObject({ kind: 'conflict', issues: { length: 10 } });
});
