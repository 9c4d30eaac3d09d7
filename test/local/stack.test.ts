import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { type Stack, startStack } from '../../infra/local/stack.ts';

let dataDir: string;
let stack: Stack;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'portico-stack-'));
  // One that nobody is given while the stack is down.
  stack = await startStack({ dataDir, port: await freePort() });
});
afterAll(async () => {
  await stack.stop();
  await rm(dataDir, { recursive: true });
});

async function tokenFor({ clientId, clientSecret } = stack.demo.projects[0] ?? {}) {
  const form = {
    grant_type: 'client_credentials',
    client_id: `${clientId}`,
    client_secret: `${clientSecret}`,
  };
  const answer = await fetch(`${stack.baseUrl}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function invite(email: string) {
  const answer = await fetch(`${stack.baseUrl}/admin/projects/${stack.demo.projects[0]?.id}/invite`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await tokenFor()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceType: 'Practitioner', firstName: 'Ada', lastName: 'Lovelace', email }),
  });
  return answer.status;
}

describe('the stack on a laptop', () => {
  test('has two Projects, told only to the owner of the folder', async () => {
    const stored = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));
    expect(stored).toEqual(stack.demo);
    expect(stored).toMatchObject({ baseUrl: stack.baseUrl, appUrl: `${stack.baseUrl}/app` });
    expect(stored.projects).toHaveLength(2);
    expect(((await stat(join(dataDir, 'demo.json'))).mode & 0o777).toString(8)).toBe('600');
    for (const project of stack.demo.projects) await tokenFor(project);
  });

  test('sends an invitation through the stream', async () => {
    expect(await invite('ada@example.org')).toBe(200);
    const mail = await stack.mailbox.waitFor(({ to }) => to.includes('ada@example.org'));
    expect(mail.text).toContain(`${stack.baseUrl}/app/accept#`);
  });

  test('sends it later when the mail service was down', async () => {
    stack.mailbox.fail('down');
    expect(await invite('grace@example.org')).toBe(200);
    await expect(stack.mailbox.waitFor(({ to }) => to.includes('grace@example.org'), 500)).rejects.toThrow();
    stack.mailbox.fail('none');
    await stack.sweep();
    await stack.mailbox.waitFor(({ to }) => to.includes('grace@example.org'));
  });

  test('refuses a second one in the same process', async () => {
    await expect(startStack({ dataDir, port: 0 })).rejects.toThrow('runs in this process already');
  });

  test('keeps Projects and keys over a restart, and the new address is in effect', async () => {
    const token = await tokenFor();
    const { projects } = stack.demo;
    await stack.stop();
    expect(await readdir(dataDir)).not.toContain('lock');
    stack = await startStack({ dataDir, port: Number(new URL(stack.baseUrl).port) });
    expect(stack.demo.projects).toEqual(projects);
    const me = await fetch(`${stack.baseUrl}/auth/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(me.status).toBe(200);
    expect(await stack.mailbox.list()).toHaveLength(2);
  });

  test('frees the folder when it cannot start', async () => {
    const port = Number(new URL(stack.baseUrl).port);
    await stack.stop();
    const { createServer } = await import('node:net');
    const other = createServer().listen(port, '127.0.0.1');
    await expect(startStack({ dataDir, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => other.close(resolve));
    stack = await startStack({ dataDir, port });
  });
});
