import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fieldsOf } from '../../shared/base/values.ts';
import type { ProvisionHandler } from '../../shared/identity/projects/requests.ts';

/** `<data>/demo.json`: all that a script needs to use a stack on a laptop. */
export interface Demo {
  baseUrl: string;
  appUrl: string;
  projects: {
    id: string;
    name: string;
    clientId: string;
    clientSecret: string;
    admin: { email: string; password: string };
  }[];
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
  const projects = ((await readDemo(path)) ?? (await readDemo(part)))?.projects ?? [];
  const demo: Demo = { baseUrl, appUrl: `${baseUrl}/app`, projects };
  for (const name of names.slice(projects.length)) {
    projects.push(await provisionProject(name, provision));
    await write(part, demo);
  }
  await write(part, demo);
  await rename(part, path);
  return demo;
}

/** Undefined when there is none, or when a crash has cut it off. */
async function readDemo(path: string): Promise<Demo | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Demo;
  } catch {
    return undefined;
  }
}

async function provisionProject(
  name: string,
  provision: ProvisionHandler,
): Promise<Demo['projects'][number]> {
  // Never the address of an earlier attempt, whose password is lost.
  const suffix = randomBytes(4).toString('hex');
  const email = `admin-${suffix}@example.org`;
  const password = randomBytes(12).toString('base64url');
  const { project, client } = await provision({
    name,
    admin: { email, firstName: 'Ada', lastName: 'Administrator', password },
    client: true,
    invitesPerHour: demoInvitesPerHour,
  });
  return {
    id: project.id,
    name,
    clientId: client?.id ?? '',
    clientSecret: client?.secret ?? '',
    admin: { email, password },
  };
}

async function write(path: string, demo: Demo): Promise<void> {
  await writeFile(path, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
}

/**
 * A demo Project of the stack that runs on a data folder.
 * @param project its id or name; the first one when left out
 * @throws {Error} when there is none
 */
export async function demoProject(
  dataDir: string,
  project: string | undefined,
): Promise<{ baseUrl: string; project: Demo['projects'][number] }> {
  const file = join(dataDir, 'demo.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`There is no ${file}: start the stack with npm start`);
  });
  const { baseUrl, projects } = JSON.parse(text) as Demo;
  const found =
    project === undefined ? projects[0] : projects.find(({ id, name }) => id === project || name === project);
  if (found) return { baseUrl, project: found };
  const known = projects.map(({ name }) => `"${name}"`).join(', ');
  throw new Error(`No Project is called "${project}"; there are ${known}`);
}

/** A token of a demo Project's client. @throws {Error} when the stack does not answer, or gives none */
export async function demoToken(
  baseUrl: string,
  { clientId, clientSecret }: Pick<Demo['projects'][number], 'clientId' | 'clientSecret'>,
): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId });
  body.set('client_secret', clientSecret);
  const response = await fetch(`${baseUrl}/oauth2/token`, { method: 'POST', body }).catch(() => {
    throw new Error(`Nothing answers at ${baseUrl} (npm start runs the stack)`);
  });
  const { access_token: token } = fieldsOf(await response.json());
  if (typeof token !== 'string') throw new Error(`${baseUrl} gave no token: ${response.status}`);
  return token;
}
