import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readEntry } from '../../functions/resources/bundle/read-entry.ts';
import { runBundle } from '../../functions/resources/bundle/run-bundle.ts';
import { carryOut } from '../../functions/resources/write/carry-out.ts';
import type { Caller } from '../../shared/access/access-token.ts';
import type { Table } from '../../shared/table/table.ts';
import { newProject, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

test('a batch begins no entry when its time is over, and answers those that it began', async () => {
  const { table } = stage.services;
  // A table that takes three seconds to write.
  const transact: Table['transact'] = async (actions) => {
    await table.transact(actions);
    stage.clock.nowMs += 3000;
  };
  const entry = Array.from({ length: 30 }, (_, n) => ({
    request: { method: 'POST', url: 'Basic' },
    resource: { resourceType: 'Basic', id: `b${n}`, code: { text: 'x' } },
  }));
  const services = { ...stage.services, carryOut, readEntry, table: { ...table, transact } };
  const answer = await runBundle(services, caller, { resourceType: 'Bundle', type: 'batch', entry });
  const statuses = answer.entry?.map(({ response }) => response?.status.slice(0, 3)) ?? [];
  expect(statuses).toHaveLength(30);
  const made = statuses.filter((status) => status === '201').length;
  expect(made).toBeGreaterThanOrEqual(3);
  expect(statuses.filter((status) => status === '503')).toHaveLength(30 - made);
  expect(made).toBeLessThan(30);
});
