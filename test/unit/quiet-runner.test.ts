import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'portico-quiet-'));
afterAll(() => rmSync(folder, { recursive: true }));

const stackLog = join(folder, 'log');
const source = `
const { appendFileSync } = require('node:fs');
globalThis.stackLog = ${JSON.stringify(stackLog)};
const elsewhere = (line) => appendFileSync(stackLog, line + '\\n');
const log = (message) => process.stdout.write(JSON.stringify({ level: 'INFO', message }) + '\\n');
test('passes', () => {
  log('of the passing one');
  elsewhere('another process of the passing one');
  console.warn('oidc-provider WARNING: of the passing one');
  process.stdout.write('7 ms measured\\n');
});
test('fails', () => {
  log('of the failing one');
  elsewhere('another process of the failing one');
  console.warn('oidc-provider WARNING: of the failing one');
  throw new Error('meant');
});
test('passes after it', () => { log('of the last one'); });
`;

const looking = `
class LaptopOnly extends Error { name = 'LaptopOnly'; }
test('looks into the stack', () => { throw new LaptopOnly(); });
test('passes', () => undefined);
describe('with a hook that fails', () => {
  afterEach(() => { throw new Error('meant'); });
  test('looks into the stack too', () => { throw new LaptopOnly(); });
});
describe('with a hook that looks', () => {
  beforeAll(() => { throw new LaptopOnly(); });
  test('is not run', () => undefined);
});
`;

test.each([
  ['of a deployed stage', { BASE_URL: 'https://portico.example' }, { passed: 1, failed: 1, pending: 2 }],
  ['on a laptop', {}, { passed: 1, failed: 3, pending: 0 }],
])(
  'a test that looks into the stack is skipped only where it fails for that alone: %s',
  (_what, env, counts) => {
    rmSync(join(folder, 'some.test.cjs'), { force: true });
    writeFileSync(join(folder, 'looking.test.cjs'), looking);
    const { stdout } = runJest(['--json'], env);
    rmSync(join(folder, 'looking.test.cjs'));
    const { numPassedTests: passed, numFailedTests: failed, numPendingTests: pending } = JSON.parse(stdout);
    expect({ passed, failed, pending }).toEqual(counts);
  },
);

test('a test run prints the log of a test that fails, and what tests print themselves', () => {
  writeFileSync(join(folder, 'some.test.cjs'), source);
  const { stdout, status } = runJest([]);
  expect(status).toBe(1);
  expect(stdout).toBe(
    [
      '7 ms measured',
      'log lines of "fails":',
      '{"level":"INFO","message":"of the failing one"}',
      'oidc-provider WARNING: of the failing one',
      'another process of the failing one\n',
    ].join('\n'),
  );
});

function runJest(args: readonly string[], others: NodeJS.ProcessEnv = {}) {
  const setup = resolve(import.meta.dirname, '../setup');
  const { BASE_URL: _, ...env } = process.env;
  const config = {
    rootDir: folder,
    testMatch: ['**/*.test.cjs'],
    moduleFileExtensions: ['js', 'cjs', 'ts', 'json'],
    transform: { '\\.ts$': join(setup, 'strip-types.cjs') },
    extensionsToTreatAsEsm: ['.ts'],
    testRunner: join(setup, 'quiet-runner.ts'),
  };
  const jest = resolve(setup, '../../node_modules/jest/bin/jest.js');
  return spawnSync(process.execPath, [jest, '--config', JSON.stringify(config), '--runInBand', ...args], {
    encoding: 'utf8',
    env: { ...env, ...others },
  });
}
