import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { look, requireWell } from '../../functions/canary/look.ts';
import { measuringLog } from '../../shared/base/log.ts';
import { consume } from '../../shared/carry/work/consume.ts';

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
});
afterEach(() => void jest.restoreAllMocks());

interface Embedded {
  _aws: { Timestamp: number; CloudWatchMetrics: { Dimensions: string[][]; Metrics: { Name: string }[] }[] };
}

describe('a figure', () => {
  test('is one line of CloudWatch’s embedded metric format, with a member for all that it names', () => {
    const log = measuringLog('prod/token');
    log.measure?.('Latency', 12);
    log.measure?.('IsolateTime', 3);
    const [first, second] = lines.map((line) => JSON.parse(line));
    expect(first).toEqual({
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          {
            Namespace: 'Portico/prod',
            Dimensions: [['Function']],
            Metrics: [{ Name: 'Latency', Unit: 'Milliseconds' }],
          },
          { Namespace: 'Portico/prod', Dimensions: [[]], Metrics: [{ Name: 'ColdStarts', Unit: 'Count' }] },
        ],
      },
      ...{ Function: 'token', Latency: 12, ColdStarts: 1 },
    });
    expect(second).not.toHaveProperty('ColdStarts');
    for (const line of [first, second] as (Embedded & Record<string, unknown>)[]) {
      for (const { Dimensions, Metrics } of line._aws.CloudWatchMetrics) {
        for (const name of [...Dimensions.flat(), ...Metrics.map(({ Name }) => Name)]) {
          expect(line).toHaveProperty(name);
        }
      }
    }
  });

  test('is the age of the message of a batch that has waited longest', async () => {
    const measured: [string, number][] = [];
    const log = { info: () => undefined, error: () => undefined };
    const sentAt = (ms: number) => ({ SentTimestamp: String(Date.now() - ms) });
    const messages = [
      { messageId: 'a', body: '1', attributes: sentAt(5_000) },
      { messageId: 'b', body: '2', attributes: sentAt(90_000) },
      { messageId: 'c', body: '3' },
    ];
    await consume(
      { log: { ...log, measure: (name, ms) => measured.push([name, ms]) } },
      messages,
      async () => undefined,
    );
    expect(measured).toEqual([['QueueAge', expect.any(Number)]]);
    expect(measured[0]?.[1]).toBeGreaterThanOrEqual(90_000);
    expect(measured[0]?.[1]).toBeLessThan(120_000);
  });
});

test('the canary says what does not answer, or not as it should', async () => {
  const server = createServer(({ url }, response) => {
    if (url === '/app') return void response.write('<');
    response.statusCode = url === '/auth/me' ? 401 : url === '/.well-known/jwks.json' ? 500 : 200;
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const seen = await look(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 1_500);
    expect(seen.filter(({ isWell }) => !isWell).map(({ path, answer }) => [path, answer])).toEqual([
      ['/.well-known/jwks.json', 500],
      ['/app', 'TimeoutError'],
    ]);
    expect(seen).toHaveLength(5);
    expect(() => requireWell(seen)).toThrow('Not well: /.well-known/jwks.json, /app');
    expect(() => requireWell(seen.filter(({ path }) => path !== '/app'))).toThrow(/jwks.json$/);
    requireWell(seen.filter(({ isWell }) => isWell));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
