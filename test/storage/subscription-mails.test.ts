import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Mail } from '../../shared/identity/mail/letters.ts';
import type { OutboxServices } from '../../shared/identity/mail/mail-of-item.ts';
import { sweep } from '../../shared/identity/mail/send-mail.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { changeStatus } from '../../shared/records/subscriptions/change-status.ts';
import { updateActions } from '../../shared/store/items/change.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { getItem, newResource, type Stage, startStage } from './stage.ts';
import { storedResource } from './stored.ts';

let stage: Stage;
let services: OutboxServices;
let project: string;
let email: string;
let membershipId: string;
let sent: Mail[];

beforeEach(async () => {
  stage = await startStage();
  sent = [];
  services = {
    ...stage.services,
    keyRings: keyRingsOf(Buffer.alloc(32, 7)),
    mailer: { send: async (mail) => void sent.push(mail) },
  };
  email = `ada-${randomUUID()}@example.com`;
  const admin = { email, firstName: 'Ada', lastName: 'Min', password: 'correct horse' };
  const made = await provision(stage.services, { name: 'Clinic', admin, client: true });
  project = made.project.id;
  membershipId = made.admin.membershipId;
});
afterEach(() => stage.stop());

const status = () => ({ ...stage.services, queues: { deliveries: { send: async () => [] } } });
const fails = (id: string) => changeStatus(status(), { project, id, failed: 'Ten deliveries failed' });

async function subscription(endpoint = 'Bot/b'): Promise<string> {
  const channel = { type: 'rest-hook', endpoint };
  const fields = { status: 'active', reason: 'Zebra', criteria: 'Patient?name=Zebra', channel };
  const made = await newResource(stage, project, { resourceType: 'Subscription', ...fields });
  return String(made.split('/')[1]);
}

/** As a client that sets it going again. */
async function goesOn(id: string): Promise<void> {
  const stored = storedResource(await getItem(services, keys.resource(project, 'Subscription', id)));
  if (!stored) throw new Error('No Subscription');
  const { error: _error, ...kept } = stored;
  const meta = { ...stored.meta, versionId: randomUUID() };
  const actions = updateActions(project, { ...kept, status: 'active', meta }, stored, {
    hasFailed: undefined,
  });
  await stage.services.table.transact(actions);
}

describe('administrators', () => {
  test('are told of a Subscription that fails, by its id alone, and programs are not', async () => {
    const id = await subscription();
    await fails(id);
    await sweep(services);
    expect(sent.map(({ to, senderName }) => [to, senderName])).toEqual([[email, 'Clinic']]);
    expect(sent[0]?.text).toContain(`Subscription/${id} of Clinic is in error`);
    expect(sent[0]?.text).toContain('Ten deliveries failed');
    expect(sent[0]?.text).toContain('https://portico.example/app/bots/b');
    expect(JSON.stringify(sent)).not.toContain('Zebra');
    await fails(id);
    await sweep(services);
    expect(sent).toHaveLength(1);
  });

  test('are told once a day of one, however often it is set going, and of another at once', async () => {
    const id = await subscription();
    for (let n = 0; n < 3; n++) {
      await fails(id);
      await sweep(services);
      await goesOn(id);
    }
    expect(sent).toHaveLength(1);
    await fails(await subscription('https://example.org/hook'));
    await sweep(services);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.text).not.toContain('example.org/hook');
    stage.clock.nowMs += 86_400_000;
    await fails(id);
    await sweep(services);
    expect(sent).toHaveLength(3);
  });

  test('are told nothing of one that goes on before the mail is sent', async () => {
    const id = await subscription();
    await fails(id);
    await goesOn(id);
    await sweep(services);
    expect(sent).toEqual([]);
  });

  test('who are none any more, or complained of such mails, are told nothing', async () => {
    await stage.services.table.put({ ...keys.complaint(project, email) });
    await fails(await subscription());
    await sweep(services);
    expect(sent).toEqual([]);
    await stage.services.table.transact([{ name: 'c', remove: keys.complaint(project, email) }]);
    const id = await subscription();
    await fails(id);
    const key = keys.resource(project, 'ProjectMembership', membershipId);
    const member = storedResource(await getItem(services, key));
    if (!member) throw new Error('No membership');
    const meta = { ...member.meta, versionId: randomUUID() };
    await stage.services.table.transact(updateActions(project, { ...member, admin: false, meta }, member));
    await sweep(services);
    expect(sent).toEqual([]);
  });
});
