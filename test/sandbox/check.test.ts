import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import type { RunOutcome } from '../../shared/bots/run/contract.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { runOf } from './bot-runs.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox({ guestDir: await cachedGuest() });
});
afterAll(() => sandbox.close());

const fine: RunOutcome = { kind: 'returned', value: { type: 'undefined' } };
const noHandler = { kind: 'no-handler' };

const cases: ['esm' | 'cjs', string, object][] = [
  ['esm', 'export async function handler() {}', fine],
  ['esm', 'export const handler = () => { throw new Error("not called") }', fine],
  ['cjs', 'exports.handler = () => {}', fine],
  ['cjs', 'module.exports = { handler() {} }', fine],
  ['cjs', 'module.exports.handler = async function () {} // no line end', fine],
  ['esm', 'export const other = 1', noHandler],
  ['esm', 'export const handler = 1', noHandler],
  ['esm', '', noHandler],
  ['cjs', 'module.exports = null', noHandler],
  ['cjs', 'module.exports = new Proxy({}, { get() { throw 1 } })', noHandler],
  ['esm', 'export const handler = ;', { kind: 'not-compiled', line: 1, column: 24 }],
  [
    'esm',
    '\n\n  let a = 1;\n  let a = 2;\n',
    { kind: 'not-compiled', line: 4, column: 7, message: expect.stringContaining("'a'") },
  ],
  ['cjs', 'const x = (;\n', { kind: 'not-compiled', line: 1, column: 12 }],
  [
    'cjs',
    '// \u00e9\n\nexports.handler = async () => {\n  await 1 2\n}',
    { kind: 'not-compiled', line: 4, column: 11 },
  ],
  ['cjs', 'export const handler = () => 1', { kind: 'not-compiled', line: 1, column: 1 }],
  [
    'esm',
    'import fs from "node:fs"; export const handler = () => 1',
    { kind: 'not-compiled', message: expect.stringContaining("'node:fs'") },
  ],
  [
    'esm',
    'import { nope } from "@medplum/core"; export const handler = () => nope',
    { kind: 'not-compiled', message: expect.stringContaining('nope') },
  ],
  [
    'esm',
    'throw new RangeError("at load"); export const handler = 1',
    { kind: 'threw', name: 'RangeError', message: 'at load' },
  ],
  [
    'cjs',
    '\nthrow new RangeError("at load")',
    { kind: 'threw', stack: expect.stringMatching(/bot\.js:2:7/) },
  ],
  ['cjs', 'require("fs")', { kind: 'threw', message: expect.stringContaining("'fs'") }],
  ['esm', 'export const handler: Handler = 1', { kind: 'not-compiled', line: 1 }],
];

for (const [format, text, expected] of cases) {
  test(`${format}: ${JSON.stringify(text)}`, async () => {
    const { outcome } = await sandbox.run(runOf(text, { format, kind: 'check' }));
    expect(outcome).toMatchObject(expected);
    const run = await sandbox.run(runOf(text, { format }));
    if (outcome.kind !== 'returned') {
      expect(run.outcome).toEqual(outcome);
    }
  });
}
