import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import type { Mail } from '../../shared/identity/mail/letters.ts';
import type { OutboxServices } from '../../shared/identity/mail/mail-of-item.ts';
import { sweep } from '../../shared/identity/mail/send-mail.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { addressLink, linkUrl } from '../../shared/identity/sign-in/links.ts';
import { replacePassword } from '../../shared/identity/sign-in/password.ts';
import { verifyEmail } from '../../shared/identity/sign-in/verify-email.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { getItem, newProject, person, type Stage, startStage } from './stage.ts';

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
  const keyRings = keyRingsOf(Buffer.alloc(32, 7));
  const url = await linkUrl(
    '',
    keyRings['address-link'],
    addressLink('verify', { userId, generation, email: next }),
  );
  const { id, secret } = Object.fromEntries(new URLSearchParams(url.split('#')[1]));
  const body = { id, secret, password: 'correct horse' };
  await verifyEmail({ ...services, keyRings }, { body, source: randomUUID(), caller: undefined });
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
  // Of one kind there are five a day.
  expect(sent).toHaveLength(5);
  await inviteUser(stage.services, caller, person({ email }));
  await sweep(services);
  expect(sent).toHaveLength(6);
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
