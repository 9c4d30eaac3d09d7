import { type ChildProcess, execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bareEnvironment } from '../setup/bare-environment.ts';
import { type Portico, startPortico } from './portico.ts';
import { password, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
let home: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  home = await mkdtemp(join(tmpdir(), 'portico-cli-login-'));
  await mkdir(join(home, 'bin'));
  // What the client opens a browser with.
  await writeFile(join(home, 'bin', 'xdg-open'), '#!/bin/sh\nprintf %s "$1" > "$HOME/opened"\n');
  await chmod(join(home, 'bin', 'xdg-open'), 0o755);
});
afterAll(async () => {
  // Its address is the same for all: one that still waits would be asked in the place of the next.
  for (const one of started) one.kill();
  await portico.stop();
  await rm(home, { recursive: true, force: true });
});

const program = createRequire(import.meta.url).resolve('@medplum/cli');

/** The unmodified command line client, of a person who has no API key. */
function medplum(...args: string[]): Promise<string> {
  const env = { ...bareEnvironment(), PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home };
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { cwd: home, env },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`${args.join(' ')}: ${stdout}${stderr}`));
        else resolve(`${stdout}${stderr}`);
      },
    );
    started.push(child);
  });
}

async function openedAddress(): Promise<string> {
  for (let tries = 0; tries < 600; tries++) {
    const text = await readFile(join(home, 'opened'), 'utf8').catch(() => '');
    if (text !== '') return text;
    await pause(100);
  }
  throw new Error('No browser was opened');
}

test('the medplum command line client signs a person in, and works as them', async () => {
  const { email } = await at.newMember();
  const signingInThere = medplum('login', '--base-url', `${portico.baseUrl}/`);
  signingInThere.catch(() => undefined);
  const page = await fetch(await openedAddress(), { redirect: 'manual' });
  const asked = new URL(page.headers.get('location') ?? '').searchParams;
  const redirectUri = asked.get('redirect_uri') ?? '';
  const { code } = (
    await at.post('auth/login', {
      email,
      password,
      clientId: asked.get('client_id'),
      redirectUri,
      scope: asked.get('scope'),
    })
  ).json;
  expect((await fetch(`${redirectUri}?${new URLSearchParams({ code })}`)).status).toBe(200);
  await signingInThere;
  expect(await medplum('whoami')).toContain('Ann Lee');
  expect(await medplum('project', 'current')).toContain(portico.projects[0]?.name);
});
