import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { cpuMsOf } from '../../bench/against/process-tree.ts';
import { generate, percentile } from '../../bench/load/generate.ts';
import { httpClient } from '../../bench/load/http-client.ts';
import { reportOf } from '../../bench/load/report.ts';
import { post } from '../../bench/load/steps.ts';
import { isKept, table } from '../../bench/rows.ts';

describe('a load', () => {
  test('ends after its requests, with no more under way at once than it may', async () => {
    let [now, most] = [0, 0];
    const step = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
    };
    const load = await generate(step, { atOnce: 3, requests: 50 });
    expect([load.latencies.length, load.failures.size, most]).toEqual([50, 0, 3]);
  });

  test('ends in time, and begins no more a second than it may', async () => {
    const load = await generate(async () => undefined, { atOnce: 4, forMs: 200, perSecond: 50 });
    expect(load.latencies.length).toBeGreaterThan(2);
    expect(load.latencies.length).toBeLessThanOrEqual(15);
  });

  test('without an end is none', async () => {
    await expect(generate(async () => undefined, { atOnce: 1 })).rejects.toThrow('needs an end');
  });

  test('counts what fails by why, and tells', async () => {
    let turn = 0;
    const server = createServer((_request, response) => {
      response.statusCode = turn++ % 4 === 0 ? 429 : 200;
      response.end('{"issue":"slow down"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const http = httpClient();
    const caller = { http, baseUrl: `http://127.0.0.1:${port}`, token: 't' };
    const load = await generate(() => post(caller, 'x', '{}'), { atOnce: 2, requests: 20 });
    http.close();
    server.close();
    expect(load.latencies).toHaveLength(15);
    expect([...load.failures]).toEqual([['429 {"issue":"slow down"}', 5]]);
    expect(reportOf(load).join('\n')).toMatch(/20 requests .* 5 failed[\s\S]*p99[\s\S]*5 {2}429 /);
  });

  test('has percentiles', () => {
    const latencies = Array.from({ length: 100 }, (_, i) => i + 1);
    expect([0.5, 0.99, 1].map((share) => percentile(latencies, share))).toEqual([51, 100, 100]);
    expect(percentile([], 0.5)).toBeNaN();
  });
});

test('a figure keeps its bound or is over, and one without a bound is neither', () => {
  const row = { name: 'a', unit: 'ms', value: 2 };
  const verdicts = [{ most: 2 }, { most: 1 }, { least: 2 }, { least: 3 }, {}].map((bound) =>
    isKept({ ...row, ...bound }),
  );
  expect(verdicts).toEqual([true, false, true, false, undefined]);
  expect(table([{ ...row, most: 1 }])).toBe('a  2 ms  ≤ 1  OVER');
  expect(isKept({ ...row, value: Number.NaN, most: 2 })).toBe(false);
});

test('the CPU time of a process grows with what it does', () => {
  const before = cpuMsOf(process.pid);
  for (const until = process.cpuUsage().user + 100_000; process.cpuUsage().user < until; ) Math.sqrt(2);
  expect(cpuMsOf(process.pid) - before).toBeGreaterThanOrEqual(80);
});
