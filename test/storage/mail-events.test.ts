import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Action } from '../../shared/carry/table/transact.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import type { Mail } from '../../shared/identity/mail/letters.ts';
import { noteMailEvent } from '../../shared/identity/mail/mail-event.ts';
import type { OutboxServices } from '../../shared/identity/mail/mail-of-item.ts';
import { sweep } from '../../shared/identity/mail/send-mail.ts';
import { readMember } from '../../shared/identity/memberships/member.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { scanAll } from './scan-all.ts';
import { getItem, newProject, person, type Stage, startStage } from './stage.ts';
import { storedResource } from './stored.ts';

let stage: Stage;
let caller: Caller<'administrator'>;
let services: OutboxServices;
let sent: Mail[] = [];

beforeAll(async () => {
  stage = await startStage();
  const mailer = { send: async (mail: Mail) => void sent.push(mail) };
  services = { ...stage.services, keyRings: keyRingsOf(Buffer.alloc(32, 7)), mailer };
});
beforeEach(async () => {
  caller = await newProject(stage);
  sent = [];
});
afterAll(() => stage.stop());

/** Invites, sends, and answers the mail as SES names it in its events. */
async function invited(body = person(), as = caller) {
  const { id } = await inviteUser(services, as, body);
  await sweep(services);
  const tags = Object.entries(sent.at(-1)?.tags ?? {}).map(([name, value]) => [name, [value]]);
  return { id, body, mail: { destination: [body.email], tags: Object.fromEntries(tags) } };
}

const permanent = { bounceType: 'Permanent', bounceSubType: 'General' };
const bounced = (mail: object) => ({ eventType: 'Bounce', bounce: permanent, mail });
const complained = (mail: object) => ({ eventType: 'Complaint', complaint: {}, mail });
const note = (detail: unknown) => noteMailEvent(services, detail);

async function stateOf(id: string): Promise<unknown> {
  const read = await readMember(services, caller, { membershipId: id });
  const [{ extension }] = read.extension as [{ extension: { url: string; valueCode?: string }[] }];
  return extension.find(({ url }) => url === 'mail')?.valueCode;
}

describe('what the mail service says of an invitation', () => {
  test('is shown to administrators, and audited once', async () => {
    const { id, mail } = await invited();
    expect(await stateOf(id)).toBeUndefined();
    await Promise.all([note(bounced(mail)), note(bounced(mail))]);
    // Whoever operates the stage is told of the Project, and of nobody's address.
    const lines: unknown[][] = [];
    const log = { ...services.log, info: (...line: unknown[]) => void lines.push(line) };
    await noteMailEvent({ ...services, log }, bounced(mail));
    expect(lines).toEqual([['mail came back', { project: caller.project, delivery: 'bounced' }]]);
    expect(await stateOf(id)).toBe('bounced');
    const items = await scanAll(stage.client, stage.tableName);
    const events = items
      .filter(({ pk }) => pk.startsWith(`P#${caller.project}#AuditEvent#`))
      .map(storedResource);
    expect(events.filter((event) => JSON.stringify(event).includes('mail-bounced'))).toHaveLength(1);
  });

  test('a complaint outweighs a bounce, in either order', async () => {
    for (const order of [
      [bounced, complained],
      [complained, bounced],
    ]) {
      const { id, mail } = await invited();
      for (const event of order) await note(event(mail));
      expect(await stateOf(id)).toBe('complained');
    }
  });

  test('of an older mail says nothing of the newer one', async () => {
    const first = await invited();
    stage.clock.nowMs += 61_000;
    const second = await invited(first.body);
    expect(second.id).toBe(first.id);
    await note(bounced(first.mail));
    expect(await stateOf(first.id)).toBeUndefined();
    await note(bounced(second.mail));
    stage.clock.nowMs += 61_000;
    await invited(first.body);
    expect(await stateOf(first.id)).toBeUndefined();
  });

  test('changes neither state nor rights nor the version of the membership', async () => {
    const { id, mail } = await invited();
    const key = keys.resource(caller.project, 'ProjectMembership', id);
    const before = await getItem(services, key);
    await note(bounced(mail));
    const after = await getItem(services, key);
    expect(after).toEqual({
      ...before,
      invitation: { ...(before?.invitation as object), delivery: 'bounced' },
    });
  });

  test.each<[string, (mail: object) => unknown]>([
    [
      'an automatic answer',
      (mail) => ({ ...bounced(mail), bounce: { bounceType: 'Transient', bounceSubType: 'General' } }),
    ],
    ['a delivery', (mail) => ({ eventType: 'Delivery', mail })],
    ['no tags', (mail) => bounced({ ...mail, tags: {} })],
    [
      'strange tags',
      (mail) => bounced({ ...mail, tags: { project: ['P#x'], membership: ['../'], generation: ['-1'] } }),
    ],
    ['another membership', (mail) => bounced({ ...mail, tags: { ...tagsOf(mail), membership: ['none'] } })],
    ['nothing', () => undefined],
    ['text', () => 'Bounce'],
  ])('is not heard when it is about %s', async (_, event) => {
    const { id, mail } = await invited();
    await note(event(mail));
    expect(await stateOf(id)).toBeUndefined();
  });
});

function tagsOf(mail: object): object {
  return (mail as { tags: object }).tags;
}

describe('an address that has complained', () => {
  test('gets no more mail of that Project, and the invitation says why', async () => {
    const { id, body, mail } = await invited();
    await note(complained(mail));
    expect(sent).toHaveLength(1);
    stage.clock.nowMs += 61_000;
    await inviteUser(services, caller, body);
    await sweep(services);
    expect(sent).toHaveLength(1);
    expect(await stateOf(id)).toBe('complained');
    expect(await getItem(services, keys.outbox(caller.project, id))).toBeUndefined();
  });

  test('gets that of others', async () => {
    const { body, mail } = await invited();
    await note(complained(mail));
    const other = await newProject(stage);
    await invited(body, other);
    expect(sent).toHaveLength(2);
  });

  test('is remembered when the member is gone, and when the process died over it', async () => {
    const { body, mail } = await invited();
    const { transact } = services.table;
    const isFirst = (actions: readonly Action[]) => actions.some(({ name }) => name === 'complaint');
    const dying: typeof transact = async (actions) => {
      if (!isFirst(actions)) throw new Error('died');
      await transact(actions);
    };
    const table = { ...services.table, transact: dying };
    await expect(noteMailEvent({ ...services, table }, complained(mail))).rejects.toThrow('died');
    stage.clock.nowMs += 61_000;
    await invited(body);
    expect(sent).toHaveLength(1);
  });
});
