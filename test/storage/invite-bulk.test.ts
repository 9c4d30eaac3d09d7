import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteMany, type RowResult } from '../../shared/identity/invitations/invite-many.ts';
import { scanAll } from './scan-all.ts';
import { newProject, person, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

function inviteAll(bodies: readonly object[], services = stage.services, as = caller): Promise<RowResult[]> {
  const bytes = Buffer.from(JSON.stringify(bodies));
  return inviteMany(services, as, { contentType: 'application/json', bytes });
}

function kindOf(result: RowResult | undefined): string {
  if (!result) return 'none';
  return 'membership' in result ? 'invited' : String((result.error as { kind?: string }).kind);
}

describe('a bulk invite', () => {
  test('sent again leaves the table as it is, but for the counter', async () => {
    const bodies = Array.from({ length: 30 }, () => person());
    const first = await inviteAll(bodies);
    const before = await itemsOf();
    const ids = (results: RowResult[]) => results.map((one) => 'membership' in one && one.membership.id);
    expect(ids(await inviteAll(bodies))).toEqual(ids(first));
    expect(await itemsOf()).toEqual(before);
  });

  test('carries out rows of one person in their order, however the address is written', async () => {
    for (let round = 0; round < 5; round++) {
      const email = person().email;
      const results = await inviteAll([
        person({ email, admin: true }),
        ...Array.from({ length: 10 }, () => person()),
        person({ email: email.toUpperCase() }),
        person({ email, upsert: true, admin: false }),
      ]);
      expect(results.map(kindOf)).toEqual([...Array(11).fill('invited'), 'conflict', 'invited']);
      const [first] = results;
      expect(results.at(-1)).toMatchObject({
        membership: { id: first && 'membership' in first ? first.membership.id : '', admin: false },
      });
    }
  });

  test('begins no row when its time is up, and says so', async () => {
    const startMs = stage.clock.nowMs;
    const table = {
      ...stage.services.table,
      async transact(actions: Parameters<typeof stage.services.table.transact>[0]) {
        stage.clock.nowMs += 2000;
        await stage.services.table.transact(actions);
      },
    };
    const results = await inviteAll(
      Array.from({ length: 60 }, () => person()),
      { ...stage.services, table },
    );
    stage.clock.nowMs = startMs;
    const kinds = results.map(kindOf);
    expect(kinds.indexOf('unavailable')).toBeGreaterThan(5);
    expect(kinds.indexOf('unavailable')).toBeLessThan(30);
    expect(new Set(kinds)).toEqual(new Set(['invited', 'unavailable']));
  });

  test('counts each row against the Project’s rate', async () => {
    const few = await newProject(stage);
    await stage.services.table.update({
      Key: keys.resource(few.project, 'Project', few.project),
      UpdateExpression: 'SET invitesPerHour = :few',
      ExpressionAttributeValues: { ':few': 10 },
    });
    const results = await inviteAll(
      Array.from({ length: 30 }, () => person()),
      stage.services,
      few,
    );
    expect(results.filter((one) => kindOf(one) === 'throttled').length).toBeGreaterThanOrEqual(15);
  });

  test('keeps what was invited when the process of one row fails', async () => {
    const bad = person();
    const table = {
      ...stage.services.table,
      async transact(actions: Parameters<typeof stage.services.table.transact>[0]) {
        if (JSON.stringify(actions).includes(bad.email)) throw new Error('fault');
        await stage.services.table.transact(actions);
      },
    };
    const results = await inviteAll([person(), bad, person()], { ...stage.services, table });
    expect(results.map(kindOf)).toEqual(['invited', 'undefined', 'invited']);
  });
});

async function itemsOf() {
  const items = await scanAll(stage.client, stage.tableName);
  return items
    .filter(({ pk }) => !pk.includes('#RATE#'))
    .sort((a, b) => (a.pk + a.sk < b.pk + b.sk ? -1 : 1));
}
