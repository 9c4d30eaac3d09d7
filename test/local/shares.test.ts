import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Demo } from '../../infra/local/demo-projects.ts';
import { usualFailedAddresses } from '../../shared/base/limits.ts';
import { type Answer, type Portico, porticoAt } from '../spec/portico.ts';
import { end, type Instance, npmStart } from './npm-start.ts';

let dataDir: string;
let instance: Instance | undefined;
let portico: Portico;
const verifier = 'v'.repeat(43);
const codeChallenge = createHash('sha256').update(verifier).digest('base64url');

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'portico-shares-'));
  // An account so small that signing in has 32 executions at once, and who is signed in as many of their own.
  const env = { PORTICO_ACCOUNT_CONCURRENCY: '400', PORTICO_TRUSTED_HOPS: '1' };
  instance = await npmStart(dataDir, env);
  const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo;
  portico = porticoAt(instance.baseUrl, demo, undefined);
});
afterAll(async () => {
  if (instance) await end(instance.child, 'SIGTERM');
  await rm(dataDir, { recursive: true, force: true });
});

const signInFrom = (source: string, email: string, password: string) =>
  portico.api('POST', 'auth/login', {
    token: null,
    body: { email, password, codeChallenge, codeChallengeMethod: 'S256' },
    headers: { 'x-forwarded-for': source },
  });

/** What it is answered, and how many ms later. */
async function timed(run: () => Promise<Answer>): Promise<{ status: number; ms: number }> {
  const startedMs = performance.now();
  const { status } = await run();
  return { status, ms: performance.now() - startedMs };
}

/** A token of a demo Project's administrator, for whom emergency access is prepared. */
async function keeperToken({ id, admin }: Demo['projects'][number]): Promise<string> {
  const { code } = (await signInFrom('192.0.2.8', admin.email, admin.password)).json;
  const form = new URLSearchParams({ grant_type: 'authorization_code', code, code_verifier: verifier });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await portico.api('POST', 'oauth2/token', { token: null, body: `${form}`, headers });
  const token: string = answer.json.access_token;
  const { membership } = (await portico.api('GET', 'auth/me', { token })).json;
  const policy = { resourceType: 'AccessPolicy', name: 'Everything', resource: [{ resourceType: '*' }] };
  const { json } = await portico.api('POST', 'fhir/R4/AccessPolicy', { body: policy });
  const body = { emergencyPolicy: { reference: `AccessPolicy/${json.id}` } };
  const path = `admin/projects/${id}/members/${membership.id}`;
  expect((await portico.api('POST', path, { body })).status).toBe(200);
  return token;
}

describe('sixty tries of one source at once', () => {
  test('leave others to sign in, to ask who they are and to take emergency access within a second', async () => {
    const [project] = portico.projects;
    if (!project) throw new Error('There is no Project');
    const { email, password } = project.admin;
    const token = await keeperToken(project);
    const steps = {
      signIn: () => signInFrom('192.0.2.8', email, password),
      me: () => portico.api('GET', 'auth/me', { token }),
      take: () =>
        portico.api('POST', 'auth/emergency', { token, body: { reason: 'Everybody is in need', password } }),
      end: () => portico.api('DELETE', 'auth/emergency', { token }),
    };
    const usual: number[] = [];
    const alone = async () => usual.push((await timed(steps.signIn)).ms);
    await alone();
    for (const wave of [1, 2]) {
      const tries = Array.from({ length: 60 }, (_, n) =>
        signInFrom('198.51.100.7', `nobody-${randomUUID()}@example.com`, `Winter-${wave}-${n}`),
      );
      const took: number[] = [];
      for (const [name, step] of Object.entries(steps)) {
        const { status, ms } = await timed(step);
        expect([wave, name, status]).toEqual([wave, name, 200]);
        took.push(ms);
      }
      const statuses = (await Promise.all(tries)).map(({ status }) => status);
      // Each is answered for itself: a wrong password, or too many. None finds no execution.
      expect(statuses.filter((status) => status !== 400 && status !== 429)).toEqual([]);
      const hashed = statuses.filter((status) => status === 400).length;
      expect(hashed).toBeLessThanOrEqual(wave === 1 ? usualFailedAddresses + 4 : 0);
      await alone();
      // On a machine that is free to do a sign-in alone in a tenth of it.
      expect(Math.max(...took)).toBeLessThan(1_000 * Math.max(1, ...usual.map((ms) => ms / 100)));
    }
  });
});
