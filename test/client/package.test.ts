import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat } from '../spec/running.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
let folder: string;
let portico: Portico;

/** Packs the library and installs it in a project that has nothing else. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-client-'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: join(root, 'client') });
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const flags = ['--offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, join(folder, 'portico-client-0.1.0.tgz')], { cwd: folder });
  portico = await startPortico();
});
afterAll(async () => {
  await portico?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('the packed library is under 6 kB gzipped and needs nothing', async () => {
  const installed = join(folder, 'node_modules/@portico/client');
  expect(gzipSync(await readFile(join(installed, 'dist/index.js'))).length).toBeLessThan(6000);
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect(dependencies).toBeUndefined();
});

test('the examples of its README run as they stand, with types', async () => {
  const [project] = portico.projects;
  const identifier = [{ system: 'https://example.org/bots', value: 'greeter' }];
  const botId = await botThat(
    portico,
    `const { input } = event;
     if (typeof input === 'string') return 'Hello, ' + input;
     if (input?.header) return input.buildAck();
     return input;`,
    { identifier },
  );
  const readme = await readFile(join(root, 'client/README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  expect(blocks.length).toBeGreaterThan(2);
  const globals = 'declare const process: { env: Record<string, string> };\n';
  await writeFile(join(folder, 'example.ts'), `${globals}${blocks.join('\n')}`);
  const compile = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
  const check = ['--lib', 'es2022,dom', ...compile, 'example.ts'];
  await run(join(root, 'node_modules/.bin/tsc'), check, { cwd: folder });
  const { stdout } = await run(process.execPath, ['example.ts'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      PORTICO_URL: portico.baseUrl,
      PROJECT_ID: project?.id,
      CLIENT_ID: project?.clientId,
      CLIENT_SECRET: project?.clientSecret,
      BOT_ID: botId,
      EMAIL: project?.admin.email,
      PASSWORD: project?.admin.password,
    },
  });
  const lines = stdout.trim().split('\n');
  expect(lines).toEqual([
    'Hello, Alice',
    expect.stringMatching(/^MSH\|.*\rMSA\|AA\|42/),
    '0 false null',
    'b c',
    expect.stringMatching(/^Practitioner\//),
    'true',
    '[ "email" ] Valid email address is required'.replaceAll('"', "'"),
  ]);
});
