import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat, createClient } from '../spec/running.ts';
import { messageOf } from './sender.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
/** Ours, and this machine's own when the program runs under it. */
const nodes = [process.execPath, ...machineNodes()];
let folder: string;
let portico: Portico;

/** Packs the program and installs it in a folder that has nothing else. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-mllp-package-'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: join(root, 'mllp') });
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const flags = ['--offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, join(folder, 'portico-mllp-0.1.0.tgz')], { cwd: folder });
  portico = await startPortico();
});
afterAll(async () => {
  await portico?.stop();
  await rm(folder, { recursive: true, force: true });
});

function machineNodes(): string[] {
  const path = (process.env.PATH ?? '').split(':').filter((part) => !part.includes('node_modules'));
  const which = { encoding: 'utf8', env: { ...process.env, PATH: path.join(':') } } as const;
  try {
    const [major = 0] = execFileSync('node', ['-p', 'process.versions.node'], which).split('.').map(Number);
    return major >= 22 ? [execFileSync('node', ['-p', 'process.execPath'], which).trim()] : [];
  } catch {
    return [];
  }
}

test('the packed program is one file that needs nothing', async () => {
  const installed = join(folder, 'node_modules/@portico/mllp');
  const { dependencies, engines } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect([dependencies, engines]).toEqual([undefined, { node: '>=22' }]);
  expect((await readdir(installed, { recursive: true })).sort()).toEqual([
    'LICENSE',
    'README.md',
    'dist',
    'dist/portico-mllp.js',
    'package.json',
  ]);
  const all = await readdir(join(folder, 'node_modules'));
  expect(all.filter((name) => !name.startsWith('.'))).toEqual(['@portico']);
});

test('npm exec finds it', async () => {
  const path = `${resolve(process.execPath, '..')}:${process.env.PATH}`;
  const { stdout } = await run('npm', ['exec', '--offline', '@portico/mllp', '--', '--version'], {
    cwd: folder,
    env: { ...process.env, PATH: path },
  });
  expect(stdout).toBe('0.1.0\n');
});

test.each(nodes)('%s runs it: what one sends, the other has a Bot answer', async (node) => {
  const program = join(folder, 'node_modules/@portico/mllp/dist/portico-mllp.js');
  const bot = await botThat(portico, 'return event.input.buildAck()');
  const { id, secret } = await createClient(portico);
  const args = ['--listen', '0', '--service', portico.baseUrl, '--client-id', id, '--bot', bot];
  const receiver = spawn(node, [program, ...args], { env: { PORTICO_CLIENT_SECRET: secret } });
  let ports = '';
  for await (const line of createInterface({ input: receiver.stdout })) {
    const { event, ports: said } = JSON.parse(line);
    if (event !== 'started') continue;
    ports = said;
    break;
  }
  const file = join(folder, 'message.hl7');
  await writeFile(file, messageOf('packed'));
  const { stdout } = await run(node, [program, '--send', ports, file], { env: {} });
  expect(stdout).toContain('\nMSA|AA|packed|OK\n');
  receiver.stdout.resume();
  receiver.kill('SIGTERM');
  expect(await once(receiver, 'exit')).toEqual([0, null]);
});
