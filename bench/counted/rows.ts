import { type Spent, startStage } from '../../test/storage/stage.ts';
import type { Row } from '../rows.ts';
import { type Job, startJobs } from './jobs.ts';
import { seed } from './seed.ts';

/**
 * What is counted and not timed, so that any machine can hold it: calls, items and units of an execute and an
 * invite, and that nothing costs more in a Project that has grown.
 * @param many members, Bots, Patients and runs that the grown Project has; ten at first
 */
export async function countedRows(many: number): Promise<Row[]> {
  const stage = await startStage({ onDisk: true });
  try {
    const { caller, botId, costs } = await startJobs(stage);
    const at = { table: stage.services.table, nowMs: stage.clock.nowMs };
    await seed(at, caller, botId, { from: 0, to: 10 });
    const few = await costs();
    await seed(at, caller, botId, { from: 10, to: many });
    const grown = await costs();
    return [...boundRows(few), ...growthRows(few, grown, many)];
  } finally {
    await stage.stop();
  }
}

function boundRows(costs: Record<Job, Spent>): Row[] {
  const executes = (['execute by id', 'execute by identifier'] as const).flatMap((job): Row[] => {
    const { calls, writeUnits, readUnits } = costs[job];
    return [
      { name: `${job}: calls`, value: calls.length, unit: 'calls', most: 2, detail: calls.join(' ') },
      { name: `${job}: writes`, value: writeUnits, unit: 'WCU', most: 3, detail: `and ${readUnits} RCU` },
    ];
  });
  const { calls, items, writeUnits } = costs.invite;
  return [
    ...executes,
    { name: 'invite: calls', value: calls.length, unit: 'calls', most: 4, detail: calls.join(' ') },
    { name: 'invite: items', value: items, unit: 'items', most: 20 },
    { name: 'invite: writes', value: writeUnits, unit: 'WCU', most: 44, detail: 'its rate counter included' },
  ];
}

/** Pages are so small that their lists fill them from the beginning, however ids are spread over shards. */
function growthRows(few: Record<Job, Spent>, grown: Record<Job, Spent>, many: number): Row[] {
  return (Object.keys(few) as Job[]).map((job) => {
    const [before, after] = [few[job], grown[job]].map(({ calls, readUnits, writeUnits }) => ({
      calls: calls.sort().join(' '),
      units: readUnits + writeUnits,
    })) as [{ calls: string; units: number }, { calls: string; units: number }];
    const isSame = before.calls === after.calls;
    return {
      ...{ name: `${job}: units at ${many} against 10`, unit: 'more', most: 0 },
      value: isSame ? Math.max(0, after.units - before.units) : Number.POSITIVE_INFINITY,
      detail: `${before.units} then ${after.units}${isSame ? '' : `; ${before.calls} then ${after.calls}`}`,
    };
  });
}
