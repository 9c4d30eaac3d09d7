import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { inviteUser } from '../../functions/invite/invite-user.ts';
import { gatherMove } from '../../functions/login/address/gather-move.ts';
import { moveActions } from '../../functions/login/address/move-address.ts';
import type { OutboxServices } from '../../functions/outbox/services.ts';
import { sweep } from '../../functions/outbox/sweep.ts';
import { provision } from '../../functions/provision/provision.ts';
import type { Caller } from '../../shared/access/access-token.ts';
import type { Mail } from '../../shared/email/mailer.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { replacePassword } from '../../shared/login/replace-password.ts';
import { keys } from '../../shared/table/keys.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { getItem, newProject, person, type Stage, startStage } from './stage.ts';
import { storedResource } from './stored.ts';

let stage: Stage;
let caller: Caller<'administrator'>;
let services: OutboxServices;
let sent: Mail[] = [];
let isDown = false;
let email = '';
let userId = '';

beforeAll(async () => {
  stage = await startStage();
  services = {
    ...stage.services,
    keyRings: keyRingsOf(Buffer.alloc(32, 7)),
    mailer: {
      async send(mail) {
        if (isDown) throw new Error('down');
        sent.push(mail);
      },
    },
  };
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

beforeEach(async () => {
  sent = [];
  isDown = false;
  email = `ada-${randomUUID()}@example.com`;
  const admin = { email, firstName: 'Ada', lastName: 'Min', password: 'correct horse' };
  await provision(stage.services, { name: 'Clinic', admin });
  userId = String((await getItem(services, keys.address(email)))?.userId);
});

async function changePassword(): Promise<void> {
  const seenHash = String((await getItem(services, keys.password(userId)))?.hash);
  await replacePassword(services, userId, { password: `${randomUUID()}`, seenHash, email });
}

/** As the link that confirms a new address does it. */
async function moveTo(next: string): Promise<void> {
  const generation = services.now();
  await services.table.put({ ...keys.addressChange(userId), email: next, generation });
  const item = await getItem(services, keys.user(userId));
  const user = storedResource(item) as Resource;
  const move = await gatherMove(services, { user, joins: item?.joins }, next);
  await services.table.transact(moveActions(services, move, generation));
}

test('a change of the password is told, once', async () => {
  await changePassword();
  await sweep(services);
  await sweep(services);
  expect(sent.map(({ to, subject }) => [to, subject])).toEqual([[email, 'Your password was changed']]);
});

test('after five mails of others on that day it is told all the same', async () => {
  for (let i = 0; i < 6; i++) {
    const other = await newProject(stage);
    await inviteUser(stage.services, other, person({ email }));
    await sweep(services);
  }
  expect(sent).toHaveLength(5);
  await changePassword();
  await sweep(services);
  expect(sent.at(-1)?.subject).toBe('Your password was changed');
});

test('many notices leave an address its five mails', async () => {
  for (let i = 0; i < 7; i++) {
    stage.clock.nowMs += 1;
    await changePassword();
    await sweep(services);
  }
  expect(sent).toHaveLength(7);
  await inviteUser(stage.services, caller, person({ email }));
  await sweep(services);
  expect(sent).toHaveLength(8);
});

test('who moves an address twice while mail is down cannot keep the first from being told', async () => {
  isDown = true;
  const [second, third] = [`b-${randomUUID()}@example.com`, `c-${randomUUID()}@example.com`];
  await moveTo(second);
  await moveTo(third);
  await sweep(services);
  isDown = false;
  await sweep(services);
  expect(sent.map(({ to }) => to).sort()).toEqual([email, second].sort());
  for (const { subject, text } of sent) {
    expect(subject).toBe('Your address was changed');
    expect(text).not.toContain(third);
  }
});

test('a change that loses tells nothing', async () => {
  await expect(
    replacePassword(services, userId, { password: 'another good one', seenHash: 'other', email }),
  ).rejects.toMatchObject({ name: 'ConditionFailed' });
  await sweep(services);
  expect(sent).toEqual([]);
});
