import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from './service.ts';

/** One of the Projects that `npm run provision -- --for-spec` makes. */
export interface Project {
  id: string;
  clientId: string;
  clientSecret: string;
  admin: { email: string; password: string };
}

interface Extent {
  /** How long the asynchronous run takes. */
  asyncSeconds: number;
  /** How many executes one after the other, and how far apart. */
  executes: number;
  apartSeconds: number;
}

export interface Smoke {
  service: Service;
  project: Project;
  extent: Extent;
  /** Tells these runs apart. */
  run: string;
}

/** What was seen; throws when that is not what was wanted. */
export type Check = (smoke: Smoke & { token: string; bot: string }) => Promise<string>;

const system = 'https://portico.example/smoke';
const mebibyte = 1024 ** 2;

function must(is: boolean, saw: string): string {
  if (!is) throw new Error(saw);
  return saw;
}

async function until<T>(look: () => Promise<T | undefined>, seconds: number, what: string): Promise<T> {
  const beganMs = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - beganMs > seconds * 1000) throw new Error(`${what}: not within ${seconds} s`);
    await pause(Math.min(2000, seconds * 20));
  }
}

export async function tokenOf({ service, project }: Smoke): Promise<string> {
  const { clientId, clientSecret } = project;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const { status, fields, text } = await service.call('POST', 'oauth2/token', { body });
  if (status !== 200) throw new Error(`no token: ${status} ${text}`);
  return String(fields.access_token);
}

/** A Bot of this run that answers what it is sent; `{"sleep": s}` after a while. */
export async function newBot(smoke: Smoke, token: string): Promise<string> {
  const { service, project, run } = smoke;
  const identifier = [{ system, value: run }];
  const created = await service.call('POST', `admin/projects/${project.id}/bot`, {
    token,
    body: { name: `Smoke ${run}`, identifier, timeout: 840 },
  });
  must(created.status === 201, `the Bot: ${created.status} ${created.text}`);
  const code = `exports.handler = async (_, { input }) => {
    console.log('smoke ${run}');
    if (input && input.sleep) await new Promise((done) => setTimeout(done, input.sleep * 1000));
    return input && input.segments ? input.toString() : 'done';
  }`;
  const id = String(created.fields.id);
  const deployed = await service.call('POST', `fhir/R4/Bot/${id}/$deploy`, {
    token,
    body: { code },
  });
  must(deployed.status === 200, `its code: ${deployed.status} ${deployed.text}`);
  return id;
}

export const checks: Readonly<Record<string, Check>> = {
  'the sandbox loads, for a Bot that is new': async ({ service, token, bot }) => {
    const { status, text } = await service.call('POST', `fhir/R4/Bot/${bot}/$execute`, { token, body: {} });
    return must(status === 200 && text.includes('done'), `${status} ${text.slice(0, 100)}`);
  },

  'a person signs in with a password': async ({ service, project }) => {
    const verifier = randomBytes(32).toString('base64url');
    const codeChallenge = createHash('sha256').update(verifier).digest('base64url');
    const pkce = { codeChallenge, codeChallengeMethod: 'S256', clientId: '' };
    const login = await service.call('POST', 'auth/login', { body: { ...project.admin, ...pkce } });
    const grant = {
      grant_type: 'authorization_code',
      code: String(login.fields.code),
      code_verifier: verifier,
    };
    const tokens = await service.call('POST', 'oauth2/token', { body: new URLSearchParams(grant) });
    return must(tokens.status === 200, `login ${login.status}, token ${tokens.status}`);
  },

  '$execute without a body, with a raw |, with %24execute': async ({ service, token, bot, run }) => {
    const named = `identifier=${encodeURIComponent(system)}|${run}`;
    const paths = [`Bot/${bot}/$execute`, `Bot/$execute?${named}`, `Bot/${bot}/%24execute`];
    const statuses: number[] = [];
    for (const path of paths)
      statuses.push((await service.call('POST', `fhir/R4/${path}`, { token })).status);
    return must(
      statuses.every((status) => status === 200),
      statuses.join(', '),
    );
  },

  'WWW-Authenticate and Content-Location survive': async ({ service, token, bot }) => {
    const refused = await service.call('GET', 'fhir/R4/Patient');
    const accepted = await service.call('POST', `fhir/R4/Bot/${bot}/$execute`, {
      token,
      headers: { prefer: 'respond-async' },
      body: {},
    });
    const seen = [refused.headers.get('www-authenticate'), accepted.headers.get('content-location')];
    return must(refused.status === 401 && accepted.status === 202 && seen.every(Boolean), seen.join('; '));
  },

  'If-Match and If-None-Match get through': async ({ service, token, run }) => {
    const body = { resourceType: 'Basic', code: { text: `Smoke ${run}` } };
    const { fields, headers } = await service.call('POST', 'fhir/R4/Basic', { token, body });
    const path = `fhir/R4/Basic/${fields.id}`;
    const etag = headers.get('etag') ?? '';
    const other = await service.call('PUT', path, {
      ...{ token, headers: { 'if-match': 'W/"another"' } },
      body: { ...body, id: fields.id },
    });
    const same = await service.call('GET', path, { token, headers: { 'if-none-match': etag } });
    await service.call('DELETE', path, { token });
    return must(other.status === 412 && same.status === 304, `${other.status}, ${same.status}`);
  },

  'mail goes out, and a bounce is marked': async ({ service, project, token, run }) => {
    const members = `admin/projects/${project.id}/members`;
    const ids: string[] = [];
    for (const kind of ['success', 'bounce']) {
      const email = `${kind}+${run}@simulator.amazonses.com`;
      const body = { resourceType: 'Practitioner', firstName: 'Smoke', lastName: kind, email };
      const invited = await service.call('POST', `admin/projects/${project.id}/invite`, { token, body });
      must(invited.status === 200, `${kind}: ${invited.status} ${invited.text}`);
      ids.push(String(invited.fields.id));
    }
    const told = async (id: string | undefined) =>
      (await service.call('GET', `${members}/${id}`, { token })).text.includes('"bounced"');
    await until(async () => ((await told(ids[1])) ? true : undefined), 120, 'the bounce');
    return must(!(await told(ids[0])), 'the bounce is marked, the other is not');
  },

  '$logs lists a run within a minute': async ({ service, token, bot, run }) => {
    const beganMs = performance.now();
    await service.call('POST', `fhir/R4/Bot/${bot}/$execute`, { token, body: {} });
    const look = async () =>
      (await service.call('GET', `fhir/R4/Bot/${bot}/$logs`, { token })).text.includes(`smoke ${run}`) ||
      undefined;
    await until(look, 60, 'the log');
    return `after ${((performance.now() - beganMs) / 1000).toFixed(1)} s`;
  },

  '4 MiB in and out': async ({ service, token, bot }) => {
    // Of a type that the gateway hands over as base64.
    const start = 'MSH|^~\\&|SMOKE|||||20260131||ORU^R01|1|P|2.5\rOBX|1|TX|SMOKE||';
    const body = start + 'x'.repeat(4 * mebibyte - 1024);
    const headers = { 'content-type': 'x-application/hl7-v2+er7' };
    const { status, text } = await service.call('POST', `fhir/R4/Bot/${bot}/$execute`, {
      token,
      headers,
      body,
    });
    return must(status === 200 && text.length >= body.length, `${status}, ${text.length} characters`);
  },

  'an asynchronous run comes to its end': async ({ service, token, bot, extent }) => {
    const accepted = await service.call('POST', `fhir/R4/Bot/${bot}/$execute`, {
      token,
      headers: { prefer: 'respond-async' },
      body: { sleep: extent.asyncSeconds },
    });
    const path = new URL(accepted.headers.get('content-location') ?? '').pathname.slice(1);
    const ended = async () => {
      const answer = await service.call('GET', path, { token });
      return answer.status === 202 ? undefined : answer;
    };
    const { status, text } = await until(ended, extent.asyncSeconds + 120, 'its end');
    return must(status === 200 && !text.includes('"error"'), `${extent.asyncSeconds} s: ${status}`);
  },

  'executes that are far apart are answered': async ({ service, token, bot, extent }) => {
    const times: number[] = [];
    for (let n = 0; n < extent.executes; n++) {
      if (n > 0) await pause(extent.apartSeconds * 1000);
      const beganMs = performance.now();
      const { status } = await service.call('POST', `fhir/R4/Bot/${bot}/$execute`, { token, body: {} });
      must(status === 200, `the ${n + 1}. of ${extent.executes}: ${status}`);
      times.push(Math.round(performance.now() - beganMs));
    }
    return `${times.length} of ${extent.executes}, ${extent.apartSeconds} s apart: ${times.join(', ')} ms`;
  },
};
