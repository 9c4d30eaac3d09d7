import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checks } from '../../bench/smoke/checks.ts';
import { type Portico, startPortico } from '../spec/portico.ts';

let portico: Portico;
let dataDir = '';
beforeAll(async () => {
  portico = await startPortico((folder) => {
    dataDir = folder;
  });
});
afterAll(() => portico.stop());

function smoke(...more: string[]): Promise<{ code: unknown; lines: string[] }> {
  const args = ['--disable-warning=ExperimentalWarning', 'bench/smoke/main.ts', '--base', portico.baseUrl];
  const extent = ['--async-seconds', '0.5', '--executes', '3', '--apart-seconds', '0.1'];
  const env = { ...process.env, NODE_OPTIONS: '' };
  return new Promise((resolve) =>
    execFile(process.execPath, [...args, ...extent, ...more], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, lines: `${stdout}${stderr}`.trim().split('\n') }),
    ),
  );
}

test('npm run smoke sees all that a laptop can show, and says what it costs', async () => {
  const { code, lines } = await smoke('--demo', join(dataDir, 'demo.json'));
  expect(lines.filter((line) => line.includes('FAILED'))).toEqual([]);
  const names = lines.slice(0, -1).map((line) => line.slice(0, line.indexOf(': ')));
  expect(names).toEqual(Object.keys(checks));
  expect(lines.at(-1)).toMatch(/^\d\d requests, about 0\.\d{4} USD$/);
  expect(code).toBe(0);
}, 60_000);

test('it says what it is not told', async () => {
  expect(await smoke()).toMatchObject({
    code: 2,
    lines: expect.arrayContaining([expect.stringMatching(/--demo/)]),
  });
});
