import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { standingOf } from '../../shared/identity/invitations/state.ts';
import type { Mail } from '../../shared/identity/mail/letters.ts';
import type { OutboxServices } from '../../shared/identity/mail/mail-of-item.ts';
import { sendMail, sweep } from '../../shared/identity/mail/send-mail.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { invitationLink, isLinkSecret } from '../../shared/identity/sign-in/links.ts';
import { disturbed, faults as faultKinds, overtaken } from '../faults/inject.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { callsOf, getItem, newProject, person, type Stage, startStage } from './stage.ts';

const minuteMs = 60_000;
const secret = Buffer.alloc(32, 7);
let stage: Stage;
let caller: Caller<'administrator'>;
let services: OutboxServices;
let sent: Mail[] = [];
/** What the mail service does at the next calls; after that it takes every mail. */
let faults: (() => Promise<void>)[] = [];

beforeAll(async () => {
  stage = await startStage();
  services = {
    ...stage.services,
    keyRings: keyRingsOf(secret),
    mailer: {
      async send(mail) {
        await faults.shift()?.();
        sent.push(mail);
      },
    },
  };
});
beforeEach(async () => {
  caller = await newProject(stage, 'Clinic <b>&</b>');
  sent = [];
  faults = [];
});
afterAll(() => stage.stop());

async function invite(body: Record<string, unknown>): Promise<string> {
  return (await inviteUser(services, caller, body)).id;
}

const outboxKey = (id: string) => keys.outbox(caller.project, id);
const down = () => Promise.reject(new Error('down'));

async function invitationOf(id: string) {
  const item = await getItem(services, keys.resource(caller.project, 'ProjectMembership', id));
  const found = standingOf(item)?.invitation;
  if (!found) throw new Error('No such membership');
  return found;
}

function generationOf({ text }: Mail): string | undefined {
  return new URLSearchParams(/#(\S+)/.exec(text)?.[1]).get('id')?.split('.')[2];
}

/** Generation of the link in a mail, whose secret must be good. */
async function generationIn(mail: Mail | undefined, id: string): Promise<number> {
  const fragment = new URLSearchParams(/#(\S+)/.exec(mail?.text ?? '')?.[1]);
  const generation = Number(fragment.get('id')?.split('.')[2]);
  const { expiresAtMs } = await invitationOf(id);
  const link = { project: caller.project, membershipId: id, generation, expiresAtMs };
  expect(
    await isLinkSecret(
      keyRingsOf(secret)['invitation-link'],
      invitationLink(link),
      fragment.get('secret') ?? '',
    ),
  ).toBe(true);
  return generation;
}

describe('the mail of an invitation', () => {
  test('is sent once and forgotten, however often the stream tells of it, at once or later', async () => {
    const id = await invite(person());
    await Promise.all(Array.from({ length: 10 }, () => sendMail(services, outboxKey(id))));
    await sendMail(services, outboxKey(id));
    await sweep(services);
    expect(sent).toHaveLength(1);
    expect(await getItem(services, outboxKey(id))).toBeUndefined();
    expect(await generationIn(sent[0], id)).toBe(1);
  });

  test('is none where there is no address to send it to', async () => {
    const id = await invite({ ...person(), email: undefined, externalId: services.newId() });
    expect(await getItem(services, outboxKey(id))).toBeUndefined();
  });

  test('comes back unsent from an address that the mail service takes none for', async () => {
    const id = await invite(person({ email: `jérôme-${services.newId()}@example.org` }));
    await sendMail(services, outboxKey(id));
    expect(sent).toEqual([]);
    expect(await getItem(services, outboxKey(id))).toBeUndefined();
    expect(await invitationOf(id)).toMatchObject({ delivery: 'bounced' });
  });

  test('is sent at once, whichever answer of the table is lost', async () => {
    const fault = faultKinds['is not answered'];
    for (let n = 1, attempts = 1; n <= attempts; n += 1) {
      sent = [];
      const id = await invite(person());
      const met = await disturbed(stage.client, { n, fault }, () => sendMail(services, outboxKey(id)));
      attempts = met.attempts - 1;
      expect([n, sent.length, await getItem(services, outboxKey(id))]).toEqual([n, 1, undefined]);
    }
  });

  test('is sent once, though a transaction is under way at its item when it is to go', async () => {
    const send = (id: string) => () => sendMail(services, outboxKey(id));
    const { attempts: n } = await disturbed(
      stage.client,
      { n: 0, fault: undefined },
      send(await invite(person())),
    );
    sent = [];
    const id = await invite(person());
    const met = await disturbed(stage.client, { n, fault: faultKinds['conflicts once'] }, send(id));
    expect([met.result.status, met.attempts]).toEqual(['fulfilled', n + 1]);
    expect([sent.length, await getItem(services, outboxKey(id))]).toEqual([1, undefined]);
  });

  test('stays while the service is down, and is sent by the first sweep after', async () => {
    const id = await invite(person());
    faults = [down, down];
    await expect(sendMail(services, outboxKey(id))).rejects.toThrow('down');
    await sweep(services);
    expect(sent).toEqual([]);
    await sweep(services);
    await sweep(services);
    expect(sent).toHaveLength(1);
  });

  test('one that is stuck does not hold up the others', async () => {
    const ids = [await invite(person()), await invite(person()), await invite(person())];
    faults = [down];
    await sweep(services);
    expect(sent).toHaveLength(2);
    await sweep(services);
    expect(new Set(sent.map(({ to }) => to)).size).toBe(ids.length);
  });

  test('is not sent a second time while a slow service still has it', async () => {
    const id = await invite(person());
    const slow = Promise.withResolvers<void>();
    faults = [() => slow.promise];
    const sending = sendMail(services, outboxKey(id));
    await untilClaimed(id);
    await sweep(services);
    slow.resolve();
    await sending;
    await sweep(services);
    expect(sent).toHaveLength(1);
  });

  test('is sent by a sweep a minute after the process died over it', async () => {
    const id = await invite(person());
    faults = [() => new Promise(() => undefined)];
    void sendMail(services, outboxKey(id));
    await untilClaimed(id);
    await sweep(services);
    expect(sent).toEqual([]);
    stage.clock.nowMs += minuteMs + 1;
    await sweep(services);
    expect(sent).toHaveLength(1);
  });

  test('is of the newest link only, however late an older one comes', async () => {
    const body = person();
    const id = await invite(body);
    const old = await getItem(services, outboxKey(id));
    stage.clock.nowMs += minuteMs;
    await invite(body);
    await sendMail(services, outboxKey(id));
    if (old) await services.table.put(old);
    await sweep(services);
    expect(sent).toHaveLength(1);
    expect(await generationIn(sent[0], id)).toBe(2);
  });

  test('that went out while a newer one was asked for leaves the newer one to be sent', async () => {
    const body = person();
    const id = await invite(body);
    const slow = Promise.withResolvers<void>();
    faults = [() => slow.promise];
    const sending = sendMail(services, outboxKey(id));
    await untilClaimed(id);
    stage.clock.nowMs += minuteMs;
    await invite(body);
    slow.resolve();
    await sending;
    expect(await getItem(services, outboxKey(id))).toMatchObject({ generation: 2 });
    await sweep(services);
    expect(sent.map(generationOf)).toEqual(['1', '2']);
  });

  test('of a link that a newer one has made void between read and claim is not sent', async () => {
    const first = await invite(person());
    const calls = await callsOf(stage.client, () => sendMail(services, outboxKey(first)));
    const body = person();
    const id = await invite(body);
    sent = [];
    const newer = async () => {
      stage.clock.nowMs += minuteMs;
      await invite(body);
    };
    await overtaken(
      stage.client,
      calls.indexOf('UpdateItem') + 1,
      () => sendMail(services, outboxKey(id)),
      newer,
    );
    await sweep(services);
    expect(sent.map(generationOf)).toEqual(['2']);
  });

  test.each([
    ['revoked', { state: 'revoked' as const }],
    ['accepted', { state: 'accepted' as const }],
    ['expired', { expiresAtMs: 0 }],
  ])('is dropped when the invitation is %s before it went out', async (_, change) => {
    const id = await invite(person());
    await services.table.update({
      Key: keys.resource(caller.project, 'ProjectMembership', id),
      UpdateExpression: 'SET invitation = :invitation',
      ExpressionAttributeValues: { ':invitation': { ...(await invitationOf(id)), ...change } },
    });
    await sweep(services);
    expect(sent).toEqual([]);
    expect(await getItem(services, outboxKey(id))).toBeUndefined();
  });

  test('ends when the invitation makes way for one of another type', async () => {
    const body = person();
    const first = await invite(body);
    const second = await invite({ ...body, resourceType: 'Patient', upsert: true });
    await sweep(services);
    expect(sent).toHaveLength(1);
    expect(await getItem(services, outboxKey(first))).toBeUndefined();
    expect(await generationIn(sent[0], second)).toBe(1);
  });

  test('is not sent any more when its Project has lost its mails', async () => {
    const id = await invite(person());
    await stage.services.table.update({
      Key: keys.resource(caller.project, 'Project', caller.project),
      UpdateExpression: 'SET featuresOff = :off',
      ExpressionAttributeValues: { ':off': ['email'] },
    });
    await sendMail(services, outboxKey(id));
    expect(sent).toEqual([]);
    expect(await getItem(services, outboxKey(id))).toBeUndefined();
  });

  test('is sent to an administrator whom the operator invites, though the Project has no mails', async () => {
    const admin = person();
    await provision(stage.services, { name: 'Quiet', admin, featuresOff: ['email'] });
    await sweep(services);
    expect(sent.map(({ to }) => to)).toEqual([admin.email]);
  });

  test('goes to one address five times a day, and again the next day', async () => {
    const body = person();
    const send = async () => {
      stage.clock.nowMs += minuteMs;
      await invite(body);
      await sweep(services);
    };
    for (let i = 0; i < 7; i++) await send();
    expect(sent).toHaveLength(5);
    stage.clock.nowMs += 24 * 60 * minuteMs;
    await send();
    expect(sent).toHaveLength(6);
  });

  test('that the service refused does not count as one of the five', async () => {
    const body = person();
    const id = await invite(body);
    faults = Array.from({ length: 6 }, () => down);
    for (let i = 0; i < 6; i++) await sendMail(services, outboxKey(id)).catch(() => undefined);
    await sendMail(services, outboxKey(id));
    expect(sent).toHaveLength(1);
  });

  test('shows the name of the Project as text', async () => {
    await invite(person());
    await sweep(services);
    expect(sent[0]).toMatchObject({
      senderName: 'Clinic &',
      subject: 'Invitation to Clinic <b>&</b>',
    });
    expect(sent[0]?.html).toContain('Clinic &#60;b&#62;&#38;&#60;/b&#62;');
    expect(sent[0]?.html).not.toContain('<b>');
  });
});

async function untilClaimed(id: string): Promise<void> {
  while ((await getItem(services, outboxKey(id)))?.claimedUntilMs === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a mail of a kind that only a newer release knows is kept, and the call fails', async () => {
  const id = await invite(person());
  await stage.services.table.update({
    Key: outboxKey(id),
    UpdateExpression: 'SET #kind = :kind',
    ExpressionAttributeNames: { '#kind': 'kind' },
    ExpressionAttributeValues: { ':kind': 'toString' },
  });
  await expect(sendMail(services, outboxKey(id))).rejects.toThrow('The outbox has no mail of kind toString');
  expect(sent).toEqual([]);
  expect(await getItem(services, outboxKey(id))).toMatchObject({ kind: 'toString' });
});
