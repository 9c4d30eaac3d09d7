import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { isLong } from '../setup/long.ts';

const root = resolve(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
const run = (script: string, args: readonly string[], others: NodeJS.ProcessEnv = {}) => {
  const [, file = ''] = /(?:^|\s)(\S+\.ts)$/.exec(scripts[script]) ?? [];
  return promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', ...others },
  });
};

/** Commands that take arguments, and their own source. */
const commands = Object.keys(scripts).flatMap((name) => {
  const [, file] = /(?:^|\s)((?:infra|bench)\S+\.ts)$/.exec(scripts[name]) ?? [];
  const source = file === undefined ? '' : readFileSync(resolve(root, file), 'utf8');
  return /parseArgs|readInputs|usage/.test(source) ? [{ name, source }] : [];
});

test('every command asks whether help is wanted', () => {
  expect(commands.length).toBeGreaterThan(15);
  const without = commands.filter(({ source }) => !/\n *answerHelp\(|readInputs\('/.test(source));
  expect(without.map(({ name }) => name)).toEqual([]);
});

test.each(isLong ? commands.map(({ name }) => name) : ['stage-keys', 'simulate'])(
  '%s says how it is used, and does nothing',
  async (name) => {
    const { stdout, stderr } = await run(name, ['--help', '--stage', 'none']);
    expect([stdout, stderr]).toEqual([expect.stringMatching(new RegExp(`^npm (run )?${name} -- `)), '']);
  },
);

test.each([
  [['--bot-ms', 'slow'], '--bot-ms slow is no number'],
  [['--projects', '0'], 'A whole number of Projects'],
])('a simulation of %j is refused in a line, and exit code 2', async (args, words) => {
  await expect(run('simulate', args)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(new RegExp(`^${words}`)),
  });
});

test.each([
  [['-c', 'stage=none'], {}, 'cdk.json has no stage none under context.stages'],
  [['-c', 'stage=dev'], {}, 'Could not load credentials .*--profile <name>'],
  [
    ['-c', 'stage=dev', '--profile', 'nobody'],
    { AWS_ACCESS_KEY_ID: 'of', AWS_SECRET_ACCESS_KEY: 'another account' },
    'Could not load credentials ',
  ],
])('a deploy of %j ends in a line, before anything is bundled', async (args, given, words) => {
  const nobody = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_PROFILE: undefined };
  const none = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const env = { ...nobody, ...none, AWS_EC2_METADATA_DISABLED: 'true', ...given };
  await expect(run('deploy', args, env)).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(new RegExp(`(^|\n)${words}.*\n$`)),
  });
});

test.each([
  ['stage-keys', ['totp', 'prepare', '--forget-earlier-secret'], 1, 'What is to be done'],
  ['check-table', ['--table', 'portico', '--stage', 'prod'], 2, 'Either --table or --stage'],
  ['check-table', ['--region', 'eu-west-1'], 2, '--region says where a --table is'],
  ['restore', ['--stage', 'dev', '--to', 'new', '--at', '2026-01-31T12:00:00'], 2, '--at .* is no instant'],
  ['reindex', ['--stage', ''], 1, 'The setting stage is malformed'],
  [
    'provision',
    ['--project', 'p', '--admin', 'a@b.example', '--audit-reads'],
    1,
    '--audit-reads is not taken beside',
  ],
  ['provision', ['--project', 'p', '--no-paused'], 1, 'There is no --no-paused'],
])('%s refuses %j, of which it would do half or something else', async (name, args, code, words) => {
  await expect(run(name, args)).rejects.toMatchObject({
    code,
    stderr: expect.stringMatching(new RegExp(`^${words}`)),
  });
});
