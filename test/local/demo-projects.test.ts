import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { provisionDemo } from '../../infra/local/demo-projects.ts';
import type { ProvisionRequest } from '../../shared/identity/projects/provision.ts';
import type { ProvisionHandler } from '../../shared/identity/projects/requests.ts';

let dataDir: string;
let path: string;
let made: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'portico-demo-'));
  path = join(dataDir, 'demo.json');
  made = [];
});
afterEach(() => rm(dataDir, { recursive: true }));

/** Provisions as the function does; what a script in the folder sees meanwhile is `seen`. */
function provisioning(seen: boolean[], fails: (count: number) => boolean = () => false): ProvisionHandler {
  const provision = async ({ name, admin }: ProvisionRequest) => {
    seen.push(existsSync(path));
    if (fails(seen.length)) throw new Error('cut off');
    made.push(name);
    return {
      project: { id: `p${made.length}`, name },
      admin: { email: admin.email, membershipId: 'm' },
      client: { id: `c${made.length}`, secret: 's' },
    };
  };
  return provision as ProvisionHandler;
}

const read = async () => JSON.parse(await readFile(path, 'utf8'));

test('demo.json appears once, with both Projects', async () => {
  const seen: boolean[] = [];
  const demo = await provisionDemo(dataDir, 'http://127.0.0.1:1', provisioning(seen));
  expect(seen).toEqual([false, false]);
  expect(await read()).toEqual(demo);
  expect(demo.projects.map(({ id }) => id)).toEqual(['p1', 'p2']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a start that was cut off between the two goes on with the first', async () => {
  const cutOff = provisioning([], (count) => count === 2);
  await expect(provisionDemo(dataDir, 'http://127.0.0.1:1', cutOff)).rejects.toThrow('cut off');
  expect(existsSync(path)).toBe(false);
  const demo = await provisionDemo(dataDir, 'http://127.0.0.1:2', provisioning([]));
  expect(demo.projects.map(({ id }) => id)).toEqual(['p1', 'p2']);
  expect(await read()).toEqual({ ...demo, baseUrl: 'http://127.0.0.1:2' });
});

test('what a crash left half written is not read', async () => {
  await writeFile(`${path}.part`, '{"baseUrl":"http://127.0.0.1:1","proj');
  expect((await provisionDemo(dataDir, 'http://127.0.0.1:1', provisioning([]))).projects).toHaveLength(2);
});

test('a later start keeps the Projects and tells the new address', async () => {
  const { projects } = await provisionDemo(dataDir, 'http://127.0.0.1:1', provisioning([]));
  await provisionDemo(dataDir, 'http://127.0.0.1:2', provisioning([]));
  expect(made).toHaveLength(2);
  expect(await read()).toEqual({ baseUrl: 'http://127.0.0.1:2', appUrl: 'http://127.0.0.1:2/app', projects });
});
