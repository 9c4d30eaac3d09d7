import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Services } from '../../shared/carry/services.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { streamUnread, violationsIn } from '../setup/violations.ts';
import { scanAll } from './scan-all.ts';
import { newProject, newResource, person, type Stage, startStage } from './stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await startStage();
});
afterEach(async () => {
  const violations = await violationsIn(stage, streamUnread);
  await stage.stop();
  expect(violations).toEqual([]);
});

class Death extends Error {}

/** A table whose process dies at its n-th call: before the call reaches DynamoDB, or after, unheard. */
function dyingAt(table: Table, n: number, when: 'before' | 'after'): { table: Table; calls(): number } {
  let calls = 0;
  const call =
    (run: (...given: unknown[]) => Promise<unknown>) =>
    async (...given: unknown[]) => {
      calls += 1;
      const dies = calls === n;
      if (dies && when === 'before') throw new Death();
      const result = await run(...given);
      if (dies) throw new Death();
      return result;
    };
  const dying = Object.fromEntries(Object.entries(table).map(([name, run]) => [name, call(run)]));
  return { table: dying as unknown as Table, calls: () => calls };
}

type Body = Record<string, unknown>;

/** What is invited, and what was done before; each makes a Project of its own. */
const scenarios: Record<string, (caller: Caller, invite: (body: Body) => Promise<unknown>) => Promise<Body>> =
  {
    'a new person': async () => person(),
    'a new person of the Project only': async () =>
      person({ scope: 'project', externalId: 'e1', password: 'first secret' }),
    'a person with a policy and a profile': async ({ project }) => {
      const profile = { reference: await newResource(stage, project, { resourceType: 'Practitioner' }) };
      const accessPolicy = { reference: await newResource(stage, project, { resourceType: 'AccessPolicy' }) };
      return person({ profile, accessPolicy, admin: true });
    },
    'a known person': async (_, invite) => {
      const other = await newProject(stage);
      const body = person();
      await inviteUser(stage.services, other, body);
      await invite(person());
      return body;
    },
    'a pending person as another type': async (_, invite) => {
      const body = person();
      await invite(body);
      return { ...body, resourceType: 'Patient', upsert: true };
    },
    'a person whose invitation has expired': async (_, invite) => {
      const body = person();
      stage.clock.nowMs -= 8 * 86_400_000;
      await invite(body);
      stage.clock.nowMs += 8 * 86_400_000;
      return body;
    },
  };

describe.each(Object.keys(scenarios))('the process dies while it invites %s', (name) => {
  async function play(n: number, when: 'before' | 'after'): Promise<{ calls: number; state: unknown }> {
    const caller = await newProject(stage);
    const invite = (services: Services, body: Body) => inviteUser(services, caller, body);
    const body = await (scenarios[name] ?? fail)(caller, (one) => invite(stage.services, one));
    const { table, calls } = dyingAt(stage.services.table, n, when);
    const died = await invite({ ...stage.services, table }, body).then(
      () => false,
      (error: unknown) => {
        if (!(error instanceof Death)) throw error;
        return true;
      },
    );
    if (died) await invite(stage.services, body);
    return { calls: calls(), state: await stateOf(caller, String(body.email)) };
  }

  test('at any call, before it or after: a retry leaves what an undisturbed run leaves', async () => {
    const undisturbed = await play(0, 'before');
    expect(undisturbed.calls).toBeGreaterThanOrEqual(3);
    for (const when of ['before', 'after'] as const) {
      for (let n = 1; n <= undisturbed.calls; n++) {
        expect({ when, n, state: (await play(n, when)).state }).toEqual({
          when,
          n,
          state: undisturbed.state,
        });
      }
    }
  });
});

function fail(): never {
  throw new Error('No such scenario');
}

/** What the table holds of a Project and of an address, with ids named by the order of their keys. */
async function stateOf({ project }: Caller, email: string): Promise<unknown> {
  const items = await scanAll(stage.client, stage.tableName);
  const user = items.find(({ pk }) => pk === `E#${email}`)?.userId;
  const ours = items.filter(
    (item) =>
      item.pk.startsWith(`P#${project}#`) ||
      item.pk === `E#${email}` ||
      item.pk === `U#${user}` ||
      item.sk.startsWith(`M#${project}#`) ||
      item.project === project,
  );
  return ours
    .filter(({ pk }) => !/#RATE#|^L#|^C#/.test(pk))
    .map((item) => JSON.stringify(plain(item), byName))
    .map((text) =>
      text.replaceAll(email, 'EMAIL').replace(/[0-9a-f]{8}-[0-9a-f-]{27}|a0[0-9a-z]{8}-[0-9a-f]{20}/g, 'ID'),
    )
    .map((text) => text.replace(/\$argon2id[^"\\]+/g, 'HASH'))
    .sort();
}

/** Content as JSON; shards and hashes, which follow from ids and addresses, left out of keys. */
function plain({ content, pk, sk, ...rest }: Item): Record<string, unknown> {
  return {
    ...rest,
    sk: sk.replace(/^r[\w-]{10}(?=#)/, 'r'),
    pk: pk
      .replace(/^OUTBOX#\d+/, 'OUTBOX')
      .replace(/(#LOG)#\d+$/, '$1')
      .replace(/(#IX#[^#]+#[^#]+)#.*/, '$1'),
    content: typeof content === 'string' ? JSON.parse(content) : content,
  };
}

/** Prints the names of an object in order. */
function byName(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
