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

/** Whoever reads `--help` at the end of the command is not asked to do anything. */
const others = /^(?:NODE_OPTIONS='[^']*' jest|(?:PORTICO_LONG=1 )?npm test --|biome|knip|cdk|esbuild) ?/;

test.each(Object.entries<string>(scripts))(
  '%s answers --help, which npm puts at its end',
  (_name, script) => {
    // Of several commands only the last would be given it.
    expect(script.replace(/'[^']*'/g, '')).not.toMatch(/&&|;|\|/);
    if (others.test(script)) return;
    const [, file = ''] = /^(?:exec )?node (?:--\S+ )*(\S+\.ts)/.exec(script) ?? [];
    expect(readFileSync(resolve(root, file), 'utf8')).toMatch(
      /\n *(?:answerHelp\(|await command\(usage, )|readInputs\('|case 'help':/,
    );
  },
);

test.each(isLong ? Object.keys(scripts) : ['stage-keys', 'simulate', 'demo', 'check'])(
  '%s says how it is used, and does nothing',
  async (name) => {
    const bin = resolve(root, 'node_modules/.bin');
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', `${scripts[name]} --help`], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', PATH: `${bin}:${process.env.PATH}` },
      timeout: 120_000,
    });
    const isOwn = /\bnode .*\.ts/.test(scripts[name]) && name !== 'mllp';
    expect(stdout + stderr).toMatch(
      isOwn ? new RegExp(`^npm (run )?${name}[ \n]`) : /usage|options|\[stacks/i,
    );
    if (isOwn) expect(stderr).toBe('');
  },
  150_000,
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
  ['drill', ['nothing'], 2, 'There is no nothing'],
  ['drill', ['rotate', 'restored'], 2, 'There is no restored'],
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
