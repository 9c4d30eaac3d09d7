import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { errorResponse } from '../../shared/carry/http/errors.ts';
import { parseHead } from '../../shared/carry/table/keys.ts';
import { isLong } from '../setup/long.ts';
import { streamUnread, violationsIn } from '../setup/violations.ts';
import { scanAll } from '../storage/scan-all.ts';
import { newProject, type Stage, startStage } from '../storage/stage.ts';
import { disturbed, faults, overtaken } from './inject.ts';
import { moreOperations } from './more-operations.ts';
import { operations as firstOperations } from './operations.ts';

const operations = { ...firstOperations, ...(isLong ? moreOperations : {}) };

let stage: Stage;
let cases = 0;
// Nobody waits before a repeat: how long is drawn by lot, and this is the shortest.
beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void jest.restoreAllMocks());
afterAll(() => void process.stdout.write(`${cases} faults\n`));

/** What a client is told: the status of the answer. */
function statusOf(result: PromiseSettledResult<unknown>): number {
  if (result.status === 'fulfilled') return 200;
  return errorResponse(result.reason, stage.services.log, 'trace').statusCode ?? 200;
}

/** What stands in a Project: its resources, its people and the mails that wait, ids and times left out. */
async function standing(project: string): Promise<string[]> {
  const items = await scanAll(stage.client, stage.tableName);
  const texts = items.flatMap((item) => {
    const head = parseHead(item);
    if (head?.project === project && head.type !== 'AuditEvent' && item.deleted !== true) {
      return [`${head.type} ${item.refs ?? ''} ${item.content ?? ''}`];
    }
    const isOurs =
      item.pk.startsWith(`P#${project}#PERSON#`) ||
      (item.pk.startsWith('OUTBOX#') && item.project === project);
    return isOurs
      ? [`${item.pk.replace(/^OUTBOX#\d+/, 'OUTBOX')} ${JSON.stringify(item.memberships ?? '')}`]
      : [];
  });
  return texts.map(anonymous).sort();
}

function anonymous(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/person-ID@|[\w.-]+@example\.com/g, 'ADDRESS')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

describe.each(Object.keys(operations))('%s', (name) => {
  let calm: Awaited<ReturnType<typeof play>>;

  beforeAll(async () => {
    stage = await startStage();
    calm = await play(0, undefined);
  });
  afterAll(async () => {
    const violations = await violationsIn(stage, streamUnread);
    await stage.stop();
    expect(violations).toEqual([]);
  });

  async function play(n: number, kind: string | undefined) {
    const caller = await newProject(stage);
    const run = await (operations[name] ?? fail)(stage, caller);
    const fault = kind === undefined ? undefined : faults[kind];
    const { attempts, result } = await disturbed(stage.client, { n, fault }, run);
    const status = statusOf(result);
    // Who is told no asks again.
    const again = status === 200 ? status : statusOf((await Promise.allSettled([run()]))[0]);
    return { attempts, status, again, state: await standing(caller.project) };
  }

  test.each(Object.keys(faults))('each of its calls in turn %s', async (kind) => {
    expect(calm.status).toBe(200);
    const wrong: unknown[] = [];
    // `every-call` deals its faults over the same operations in CI.
    const every = isLong ? 1 : Math.min(8, calm.attempts);
    // Each kind begins at another call.
    const first = 1 + (Object.keys(faults).indexOf(kind) % every);
    for (let n = first; n <= calm.attempts; n += every) {
      const { status, again, state } = await play(n, kind);
      cases += 1;
      const isTold = [200, 409, 503].includes(status);
      const isSame = JSON.stringify(state) === JSON.stringify(calm.state);
      if (!isTold || ![200, 404, 409, 410].includes(again) || !isSame)
        wrong.push({ n, status, again, state, calm: calm.state });
    }
    expect(wrong).toEqual([]);
  });

  test.each([-120, 120])('on a machine whose clock is %d seconds away from the others', async (seconds) => {
    const twice = await playTwice(0);
    const caller = await newProject(stage);
    const run = await (operations[name] ?? fail)(stage, caller);
    stage.clock.nowMs += seconds * 1000;
    const [first] = await Promise.allSettled([run()]);
    stage.clock.nowMs -= seconds * 1000;
    await Promise.allSettled([run()]);
    expect([first && statusOf(first), await standing(caller.project)]).toEqual([200, twice.state]);
  });

  /** The same request twice, the second one whole before the n-th call of the first; one after the other at 0. */
  async function playTwice(n: number) {
    const caller = await newProject(stage);
    const run = await (operations[name] ?? fail)(stage, caller);
    const results = await overtaken(stage.client, n, run, run);
    if (n === 0) results.push(...(await Promise.allSettled([run()])));
    return { statuses: results.map(statusOf), state: await standing(caller.project) };
  }

  test('delayed at each of its calls in turn, while the same request passes it', async () => {
    const twice = await playTwice(0);
    const wrong: unknown[] = [];
    for (let n = 1; n <= calm.attempts; n += 1) {
      const { statuses, state } = await playTwice(n);
      cases += 1;
      const isTold = statuses.every((status) => [200, 404, 409, 410, 412].includes(status));
      if (!isTold || !statuses.includes(200) || JSON.stringify(state) !== JSON.stringify(twice.state))
        wrong.push({ n, statuses, state, twice });
    }
    expect(wrong).toEqual([]);
  });
});

function fail(): never {
  throw new Error('No such operation');
}
