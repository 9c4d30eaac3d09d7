import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isObject } from '../../../shared/fields-of.ts';
import type { Demo } from '../demo-projects.ts';
import { supervise } from '../supervise.ts';

interface Answer {
  status: number;
  /** Undefined when the body is no JSON. */
  json: Record<string, unknown> | undefined;
}

/** A stack in a process of its own, and what a client does with it. */
export interface RunningStack {
  demo: Demo;
  call(method: string, path: string, options?: { token?: string; body?: unknown }): Promise<Answer>;
  /** An access token of the first Project's API key. */
  clientToken(): Promise<string>;
  stop(): Promise<void>;
}

/** A data folder, and where its stack is reached: tokens name that place, so it stays the same. */
export interface Place {
  dataDir: string;
  port: number;
}

/** `npm start` on the given table of a data folder. */
export async function runStack({ dataDir, port }: Place, tableName: string): Promise<RunningStack> {
  const { stop } = await supervise({
    command: process.execPath,
    args: ['infra/local/main.ts'],
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
      ...{ PORT: String(port), PORTICO_DATA_DIR: dataDir, PORTICO_TABLE: tableName },
    },
    ready: /Ctrl-C stops everything/,
    readyTimeoutMs: 60_000,
  });
  const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo;
  const call: RunningStack['call'] = async (method, path, { token, body } = {}) => {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(`${demo.baseUrl}/${path}`, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    });
    const json: unknown = await response.json().catch(() => undefined);
    return { status: response.status, json: isObject(json) ? { ...json } : undefined };
  };
  return {
    demo,
    call,
    async clientToken() {
      const { clientId = '', clientSecret = '' } = demo.projects[0] ?? {};
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      body.set('client_id', clientId);
      body.set('client_secret', clientSecret);
      return String((await call('POST', 'oauth2/token', { body })).json?.access_token);
    },
    stop,
  };
}

/** How many mails were sent. */
export async function mailsSent(dataDir: string): Promise<number> {
  return (await mailsIn(dataDir)).length;
}

async function mailsIn(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'mail')).catch(() => []);
  return names.filter((name) => name.endsWith('.json')).sort();
}

/** What the newest mail to an address says of its link. @throws {Error} when none comes */
export async function linkMailedTo(
  dataDir: string,
  email: string,
  isOther: (id: string) => boolean = () => true,
): Promise<{ id: string; secret: string }> {
  for (let attempt = 0; attempt < 400; attempt++) {
    for (const name of (await mailsIn(dataDir)).toReversed()) {
      const { to, text } = JSON.parse(await readFile(join(dataDir, 'mail', name), 'utf8')) as {
        to: string[];
        text: string;
      };
      const fragment = new URLSearchParams(/\/accept#(\S+)/.exec(text)?.[1]);
      const [id, secret] = [fragment.get('id'), fragment.get('secret')];
      if (to.includes(email) && id && secret && isOther(id)) return { id, secret };
    }
    await pause(50);
  }
  throw new Error(`No mail came to ${email}`);
}
