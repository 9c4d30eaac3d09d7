import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { isLong } from '../setup/long.ts';
import { startBridge, startBridgeAs } from './bridge.ts';
import { feeds, type Sent } from './feed.ts';
import { allRuns } from './runs.ts';
import { type ServiceProcess, startService } from './service-process.ts';

/** The long form has 50 connections, and sends 20 messages by each. */
const [most, each] = isLong ? [50, 20] : [20, 2];
let service: ServiceProcess;
let bot: string;

beforeAll(async () => {
  service = await startService();
  const { botThat } = await import('../spec/running.ts');
  const wait = 'await new Promise((r) => setTimeout(r, 20));';
  bot = await botThat(
    service.portico,
    // A call that is cut off with the service may have been taken: such a run does not end, so that nobody takes it for
    // one that failed and may be run again.
    `${wait} await medplum.createResource({ resourceType: 'Basic', code: { text: event.input.get('MSH.10') } })
       .catch(() => new Promise(() => undefined));
     ${wait} return event.input.buildAck()`,
  );
});
afterAll(() => service?.end());

/** Runs by control id, of these messages alone. */
async function runsById(sent: readonly Sent[]): Promise<Map<string, number>> {
  const runs = new Map(sent.map(({ controlId }) => [controlId, 0]));
  for (const id of await allRuns(service.portico)) {
    const count = runs.get(id);
    if (count !== undefined) runs.set(id, count + 1);
  }
  return runs;
}

/** Resolves when this many messages were acknowledged. */
function countdown(count: number): { told: () => void; reached: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = count;
  return {
    told() {
      left -= 1;
      if (left === 0) resolve();
    },
    reached: promise,
  };
}

test(`${most} connections of ${each} messages each run once each, in peace`, async () => {
  const bridge = await startBridge(service.portico, { listeners: [{ bot }] });
  const sent = await feeds(bridge.ports[0] ?? 0, most, each);
  expect(sent.map(({ code, attempts }) => `${code} ${attempts}`)).toEqual(sent.map(() => 'AA 1'));
  expect(new Set((await runsById(sent)).values())).toEqual(new Set([1]));
  expect(bridge.log.filter(({ level }) => level !== 'info')).toEqual([]);
  expect(await bridge.stop()).toBe(0);
}, 180_000);

describe.each<[NodeJS.Signals, number, number]>([
  ['SIGKILL', most, each],
  ['SIGTERM', isLong ? 20 : 6, isLong ? 10 : 2],
])(
  'when the service ends by %s amid %i connections of %i messages and comes back',
  (signal, connections, count) => {
    test('there is no AA for what did not run, nothing runs twice, nothing is lost', async () => {
      const bridge = await startBridge(service.portico, { timeoutSeconds: 8, listeners: [{ bot }] });
      const decided = (controlId: string) =>
        bridge.log.some(
          (line) =>
            line.event === 'message' &&
            line.controlId === controlId &&
            line.outcome === 'unknown' &&
            line.status === 409,
        );
      const { told, reached } = countdown(Math.floor((connections * count) / 4));
      const feeding = feeds(bridge.ports[0] ?? 0, connections, count, { told, isOver: decided });
      await reached;
      await service.stop(signal);
      await service.start();
      const sent = await feeding;
      const runs = await runsById(sent);
      const unknown = sent.filter(({ code }) => code !== 'AA');
      await Promise.all(unknown.map(({ controlId }) => bridge.line('outcome-unknown', { controlId })));
      expect(sent).toHaveLength(connections * count);
      // Each that is acknowledged ran exactly once; of the others nobody knows, and that is said aloud.
      const taken = sent
        .filter(({ code }) => code === 'AA')
        .map((one) => ({ ...one, runs: runs.get(one.controlId) }));
      expect(taken.filter((one) => one.runs !== 1)).toEqual([]);
      expect(unknown.filter(({ code }) => code !== 'AE')).toEqual([]);
      expect(unknown.filter(({ controlId }) => (runs.get(controlId) ?? 0) > 1)).toEqual([]);
      // No more than were on their way; a process that is killed has certainly run something.
      expect(unknown.length).toBeLessThanOrEqual(16);
      if (signal === 'SIGKILL') expect(unknown.length).toBeGreaterThan(0);
      expect(await bridge.stop()).toBe(0);
    }, 300_000);
  },
);

test('kill -9 of the program: senders repeat, nothing is lost, nothing runs twice', async () => {
  const { createClient } = await import('../spec/running.ts');
  const client = await createClient(service.portico);
  const settings = {
    service: service.portico.baseUrl,
    clientId: client.id,
    listeners: [{ bot, listen: String(await freePort()) }],
  };
  const first = await startBridgeAs(settings, client.secret);
  const { told, reached } = countdown(3 * each);
  const feeding = feeds(first.ports[0] ?? 0, 10, each, { told });
  await reached;
  await first.stop('SIGKILL');
  const second = await startBridgeAs(settings, client.secret);
  const sent = await feeding;
  expect([sent.length, new Set(sent.map(({ code }) => code))]).toEqual([10 * each, new Set(['AA'])]);
  expect(new Set((await runsById(sent)).values())).toEqual(new Set([1]));
  expect(sent.some(({ attempts }) => attempts > 1)).toBe(true);
  await second.stop();
}, 180_000);
