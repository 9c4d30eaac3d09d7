import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import type { StageBounds } from '../../shared/bots/run/bounds.ts';
import type { JobEvent } from '../../shared/bots/run/services.ts';
import { tick } from '../../shared/bots/schedule/tick.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { overtaken } from '../faults/inject.ts';
import { scanAll } from './scan-all.ts';
import { getItem, newProject, type Stage, startStage } from './stage.ts';
import { isAuditEvent, storedResource } from './stored.ts';

let stage: Stage;
let caller: Caller<'administrator'>;
let started: JobEvent[];
let answer: 'started' | 'refused';

beforeEach(async () => {
  stage = await startStage();
  caller = await newProject(stage);
  started = [];
  answer = 'started';
});
afterEach(() => stage.stop());

const at = (text: string) => {
  stage.clock.nowMs = Date.parse(text);
};
const jobs = {
  start: async (event: JobEvent) => {
    if (answer === 'started') started.push(event);
    return answer;
  },
};
const ticking = (bounds: StageBounds = {}) => tick({ ...stage.services, ...bounds, jobs });

/** Who calls in a request of its own. */
const again = () => {
  const { admission: _, ...claims } = caller;
  return callerOf(claims, 'administrator');
};

async function save(id: string, fields: Record<string, unknown>) {
  const read = storedResource(await getItem(stage.services, keys.resource(caller.project, 'Bot', id)));
  const body = { ...read, resourceType: 'Bot', ...fields };
  await carryOut(stage.services, again(), [{ kind: 'update', type: 'Bot', id, body }]);
}

async function scheduledBot(cronString: string, codeVersion: string | undefined = 'x'): Promise<string> {
  const { id } = await createBot(stage.services, again(), { name: `Bot ${randomUUID()}` });
  if (codeVersion) {
    await stage.services.table.update({
      Key: keys.resource(caller.project, 'Bot', id),
      UpdateExpression: 'SET codeVersion = :version',
      ExpressionAttributeValues: { ':version': codeVersion },
    });
  }
  await save(id, { cronString });
  return id;
}

async function jobsOf(bot: string) {
  const found = [];
  for (const { project, jobId } of started) {
    const item = await getItem(stage.services, keys.job(project, jobId));
    if (item?.botId === bot) found.push(item as typeof item & { lease?: { entry: string } });
  }
  return found;
}

const dueItems = async () =>
  (await scanAll(stage.client, stage.tableName)).filter(({ pk }) => pk.startsWith('SCHEDULE#'));

describe('a tick', () => {
  test('runs what is due, as a job of the Bot itself, and nothing else', async () => {
    at('2026-11-20T07:29:10Z');
    const due = await scheduledBot('30 7 * * *');
    const later = await scheduledBot('31 7 * * *');
    await ticking();
    expect(started).toEqual([]);
    at('2026-11-20T07:30:05Z');
    await ticking();
    expect(await jobsOf(due)).toMatchObject([
      {
        scheduledAt: '2026-11-20T07:30:00.000Z',
        headers: { 'x-portico-scheduled': '2026-11-20T07:30:00.000Z' },
        caller: { profile: `Bot/${due}`, run: { depth: 0 } },
      },
    ]);
    expect(await jobsOf(later)).toEqual([]);
    await ticking();
    expect(started).toHaveLength(1);
    at('2026-11-21T07:30:05Z');
    await ticking();
    // The first is forgotten by then.
    expect(started).toHaveLength(3);
    expect(await jobsOf(due)).toMatchObject([{ scheduledAt: '2026-11-21T07:30:00.000Z' }]);
  });

  test('at the same time as another runs each once', async () => {
    at('2026-11-20T07:29:10Z');
    const bots = await Promise.all(Array.from({ length: 5 }, () => scheduledBot('30 7 * * *')));
    at('2026-11-20T07:30:05Z');
    await Promise.all([ticking(), ticking(), ticking()]);
    // A job that two have started is one: its claim lets one of them begin.
    const ids = new Set(started.map(({ jobId }) => jobId));
    const written = (await scanAll(stage.client, stage.tableName)).filter((item) => item.scheduledAt);
    expect(new Set(written.map(({ id }) => id))).toEqual(ids);
    expect(written.map(({ botId }) => botId).sort()).toEqual(bots.sort());
  });

  test('that another overtakes at any of its calls runs the Bot once, in one place', async () => {
    for (let n = 1; ; n++) {
      at('2026-11-20T07:29:10Z');
      const bot = await scheduledBot('30 7 * * *');
      at('2026-11-20T07:30:05Z');
      const isOvertaken = (await overtaken(stage.client, n, ticking, ticking)).length > 1;
      const held = (await getItem(stage.services, keys.running(caller.project)))?.held;
      const jobs = await jobsOf(bot);
      expect([n, new Set(jobs.map(({ id }) => id)).size, held]).toEqual([
        n,
        1,
        new Set([jobs[0]?.lease?.entry]),
      ]);
      if (!isOvertaken) break;
      await stage.services.table.write([], [keys.running(caller.project)]);
    }
  });

  test.each<[number, StageBounds]>([
    [50, {}],
    [25, { startedRuns: 25 }],
    [10, { projectRuns: 10, startedRuns: 25 }],
  ])('waits while its Project has as many runs as it may: %d', async (most, bounds) => {
    at('2026-11-20T07:29:10Z');
    const bot = await scheduledBot('30 7 * * *');
    const key = keys.running(caller.project);
    const until = Date.parse('2026-11-20T08:00:00Z');
    const held = new Set(Array.from({ length: most }, (_, n) => `${until}#run-${n}`));
    await stage.services.table.put({ ...key, held });
    at('2026-11-20T07:30:05Z');
    await ticking(bounds);
    expect(started).toEqual([]);
    held.delete(`${until}#run-7`);
    await stage.services.table.put({ ...key, held });
    await Promise.all([ticking(bounds), ticking(bounds)]);
    const [job] = await jobsOf(bot);
    expect(new Set(started.map(({ jobId }) => jobId)).size).toBe(1);
    // The one that came too late has given its place back.
    expect((await getItem(stage.services, key))?.held).toEqual(new Set([...held, job?.lease?.entry]));
  });

  test('that comes two hours late runs each missed schedule once, and goes on from then', async () => {
    at('2026-11-20T07:29:10Z');
    const bot = await scheduledBot('*/5 * * * *');
    at('2026-11-20T09:31:00Z');
    await ticking();
    await ticking();
    expect(await jobsOf(bot)).toHaveLength(1);
    expect((await dueItems()).map(({ dueAt }) => dueAt)).toEqual(['2026-11-20T09:35:00.000Z']);
  });

  test('starts what an earlier one had written and not started', async () => {
    at('2026-11-20T07:29:10Z');
    const bot = await scheduledBot('30 7 * * *');
    at('2026-11-20T07:30:05Z');
    answer = 'refused';
    await ticking();
    expect(started).toEqual([]);
    answer = 'started';
    at('2026-11-20T07:31:05Z');
    await ticking();
    expect(await jobsOf(bot)).toHaveLength(1);
    expect(await dueItems()).toHaveLength(1);
  });

  test('dies before and after each of its writes: the next one runs the Bot, once', async () => {
    for (let n = 0; n < 8; n++) {
      at('2026-11-20T07:29:10Z');
      const bot = await scheduledBot('30 7 * * *');
      at('2026-11-20T07:30:05Z');
      let calls = 0;
      const table = new Proxy(stage.services.table, {
        get(target, name) {
          const own = Reflect.get(target, name);
          if (typeof own !== 'function') return own;
          return async (...args: unknown[]) => {
            const isDead = () => calls++ >= n;
            if (isDead()) throw new Error('dead');
            const result = await own.apply(target, args);
            if (isDead()) throw new Error('dead');
            return result;
          };
        },
      });
      await tick({ ...stage.services, table, jobs }).catch(() => undefined);
      at('2026-11-20T07:31:05Z');
      await ticking();
      const ids = new Set((await jobsOf(bot)).map(({ id }) => id));
      expect([n, ids.size]).toEqual([n, 1]);
    }
  });
});

describe('a schedule', () => {
  test('that is said anew is due by its new words only', async () => {
    at('2026-11-20T07:29:10Z');
    const bot = await scheduledBot('30 7 * * *');
    await save(bot, { cronString: '45 7 * * *' });
    at('2026-11-20T07:30:05Z');
    await ticking();
    expect(started).toEqual([]);
    at('2026-11-20T07:45:05Z');
    await ticking();
    expect(await jobsOf(bot)).toHaveLength(1);
  });

  test('ends with its words, and with its Bot', async () => {
    at('2026-11-20T07:29:10Z');
    const [silent, deleted] = [await scheduledBot('30 7 * * *'), await scheduledBot('30 7 * * *')];
    await save(silent, { cronString: undefined });
    await carryOut(stage.services, again(), [{ kind: 'delete', type: 'Bot', id: deleted }]);
    at('2026-11-20T07:30:05Z');
    await ticking();
    expect(started).toEqual([]);
    expect(await dueItems()).toEqual([]);
  });

  test('of a Bot without code stops by itself, and the list of its runs says why', async () => {
    at('2026-11-20T07:29:10Z');
    const bot = await scheduledBot('30 7 * * *', '');
    at('2026-11-20T07:30:05Z');
    await ticking();
    expect(started).toEqual([]);
    expect(await dueItems()).toEqual([]);
    const runs = (await scanAll(stage.client, stage.tableName))
      .filter(isAuditEvent)
      .filter(({ pk }) => pk.includes(`#RUNS#${bot}#`));
    expect(runs.map((item) => storedResource(item)?.outcomeDesc)).toEqual(['schedule stopped: no code']);
  });

  test('stays as it was when its Bot is given another name: a run that is due by then is not passed over', async () => {
    at('2026-11-20T07:29:10Z');
    const bot = await scheduledBot('30 7 * * *');
    at('2026-11-20T07:30:05Z');
    const due = await dueItems();
    await save(bot, { name: 'Another' });
    expect(await dueItems()).toEqual(due);
    await ticking();
    expect(await jobsOf(bot)).toMatchObject([{ scheduledAt: '2026-11-20T07:30:00.000Z' }]);
  });

  test.each([{ paused: true }, { featuresOff: ['cron'] }, { featuresOff: ['bots'] }])(
    'of a Project with %j goes on without running',
    async (settings) => {
      at('2026-11-20T07:29:10Z');
      await scheduledBot('30 7 * * *');
      const [[name, value] = ['', '']] = Object.entries(settings);
      await stage.services.table.update({
        Key: keys.resource(caller.project, 'Project', caller.project),
        UpdateExpression: `SET ${name} = :value`,
        ExpressionAttributeValues: { ':value': value },
      });
      at('2026-11-20T07:30:05Z');
      await ticking();
      expect(started).toEqual([]);
      expect((await dueItems()).map(({ dueAt }) => dueAt)).toEqual(['2026-11-21T07:30:00.000Z']);
    },
  );

  test('is refused when its Project has as many as it may, and one that has one may change it', async () => {
    const has = (schedules: number) =>
      stage.services.table.update({
        Key: keys.resource(caller.project, 'Project', caller.project),
        UpdateExpression: 'SET schedules = :most',
        ExpressionAttributeValues: { ':most': schedules },
      });
    await has(1);
    const first = await scheduledBot('30 7 * * *');
    await expect(scheduledBot('30 7 * * *')).rejects.toThrow('at most 1 schedules');
    await save(first, { cronString: '31 7 * * *' });
    await has(2);
    await scheduledBot('30 7 * * *');
  });

  test('that cannot be understood is refused with the field', async () => {
    const { id } = await createBot(stage.services, again(), { name: 'Bot' });
    await expect(save(id, { cronString: 'daily' })).rejects.toMatchObject({
      kind: 'unprocessable',
      issues: [{ expression: 'cronString' }],
    });
  });
});
