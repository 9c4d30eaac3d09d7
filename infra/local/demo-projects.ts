import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fieldsOf } from '../../shared/base/values.ts';
import type { ProvisionHandler } from '../../shared/identity/projects/requests.ts';

export interface DemoProject {
  id: string;
  name: string;
  clientId: string;
  clientSecret: string;
  admin: { email: string; password: string };
}

/** `<data>/demo.json`: all that a script needs to use a stack on a laptop. */
export interface Demo {
  baseUrl: string;
  appUrl: string;
  projects: DemoProject[];
}

const names = ['Demo Clinic', 'Demo Hospital'];
const demoInvitesPerHour = 1_000_000;

/**
 * Makes two Projects at the first start; later starts keep them and refresh the addresses. The file appears
 * when both are there; until then what is made stands under a temporary name, where the next start goes on.
 */
export async function provisionDemo(
  dataDir: string,
  baseUrl: string,
  provision: ProvisionHandler,
): Promise<Demo> {
  const path = join(dataDir, 'demo.json');
  const part = `${path}.part`;
  // A crash may have cut one off.
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Demo;
  const before = await read(path).catch(() => read(part).catch(() => undefined));
  const demo: Demo = { baseUrl, appUrl: `${baseUrl}/app`, projects: before?.projects ?? [] };
  const write = () => writeFile(part, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  for (const name of names.slice(demo.projects.length)) {
    demo.projects.push(await provisionProject(name, provision));
    await write();
  }
  await write();
  await rename(part, path);
  return demo;
}

async function provisionProject(name: string, provision: ProvisionHandler): Promise<DemoProject> {
  // Never the address of an earlier attempt, whose password is lost.
  const email = `admin-${randomBytes(4).toString('hex')}@example.org`;
  const password = randomBytes(12).toString('base64url');
  const { project, client } = await provision({
    name,
    admin: { email, firstName: 'Ada', lastName: 'Administrator', password },
    client: true,
    invitesPerHour: demoInvitesPerHour,
  });
  const { id: clientId = '', secret: clientSecret = '' } = client ?? {};
  return { id: project.id, name, clientId, clientSecret, admin: { email, password } };
}

/** What a request carries: a token, and a form, a text of some type, or what is sent as JSON. */
interface Carried {
  token?: string | undefined;
  body?: unknown;
  type?: string;
}

/** How a client calls a stack. The answer has no fields when its body is no JSON object. */
export function callsTo(baseUrl: string) {
  return async (method: string, path: string, { token, body, type = 'application/json' }: Carried = {}) => {
    const isForm = body instanceof URLSearchParams;
    const headers = {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined || isForm ? {} : { 'content-type': type }),
    };
    const sent = isForm || typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method, headers, ...(body === undefined ? {} : { body: sent }) };
    const response = await fetch(`${baseUrl}/${path}`, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, text, json: fieldsOf(isJson ? JSON.parse(text) : undefined) };
  };
}

/**
 * A demo Project of the stack that runs on a data folder.
 * @param project its id or name; the first one when left out
 * @throws {Error} when there is none
 */
export async function demoProject(
  dataDir: string,
  project?: string,
): Promise<{ baseUrl: string; project: DemoProject }> {
  const file = join(dataDir, 'demo.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`There is no ${file}: start the stack with npm start`);
  });
  const { baseUrl, projects } = JSON.parse(text) as Demo;
  const found = projects.find(({ id, name }) => project === undefined || id === project || name === project);
  if (found) return { baseUrl, project: found };
  const known = projects.map(({ name }) => `"${name}"`).join(', ');
  throw new Error(`No Project is called "${project}"; there are ${known}`);
}

/** A token of a demo Project's client. @throws {Error} when the stack does not answer, or gives none */
export async function demoToken(
  baseUrl: string,
  { clientId, clientSecret }: Pick<DemoProject, 'clientId' | 'clientSecret'>,
): Promise<string> {
  const client = { client_id: clientId, client_secret: clientSecret };
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...client });
  const { status, json } = await callsTo(baseUrl)('POST', 'oauth2/token', { body }).catch(() => {
    throw new Error(`Nothing answers at ${baseUrl} (npm start runs the stack)`);
  });
  if (typeof json.access_token !== 'string') throw new Error(`${baseUrl} gave no token: ${status}`);
  return json.access_token;
}
