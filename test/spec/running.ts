import type { Resource } from '../../shared/base/resource.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { createActions, updateActions } from '../../shared/store/items/change.ts';
import { isAuditEvent, storedResource } from '../storage/stored.ts';
import { type Answer, type Call, type Portico, requestToken } from './portico.ts';

type Project = Portico['projects'][number];

let named = 0;

export function projectOf(portico: Portico, position: 0 | 1): Project {
  const project = portico.projects[position];
  if (!project) throw new Error('The demo has two Projects');
  return project;
}

/** The body of an async handler as a whole Bot. */
function handlerOf(body: string): string {
  return `export async function handler(medplum, event) { ${body} }`;
}

export async function createBot(
  portico: Portico,
  fields: Record<string, unknown> = {},
  project: Project = projectOf(portico, 0),
): Promise<string> {
  named += 1;
  const answer = await portico.api('POST', `admin/projects/${project.id}/bot`, {
    token: await portico.token(project),
    body: { name: `Bot ${named}`, ...fields },
  });
  if (answer.status !== 201) throw new Error(`No Bot: ${answer.status} ${answer.text}`);
  return answer.json.id;
}

export async function deploy(
  portico: Portico,
  botId: string,
  code: string,
  filename = 'bot.mjs',
  project: Project = projectOf(portico, 0),
): Promise<void> {
  const call = { token: await portico.token(project), body: { code, filename } };
  const send = () => portico.api('POST', `fhir/R4/Bot/${botId}/$deploy`, call);
  let answer = await send();
  // Others on the machine had the time that there was: who is told so asks again.
  while (answer.status === 429) answer = await send();
  if (answer.status !== 200) throw new Error(`Not deployed: ${answer.status} ${answer.text}`);
}

/** Creates and deploys a Bot of which only the handler's body is said. */
export async function botThat(
  portico: Portico,
  body: string,
  fields: Record<string, unknown> = {},
  project: Project = projectOf(portico, 0),
): Promise<string> {
  const botId = await createBot(portico, fields, project);
  await deploy(portico, botId, handlerOf(body), 'bot.mjs', project);
  return botId;
}

/** Executes by id: text when the body is said without a type, nothing when neither is. */
export function execute(
  portico: Portico,
  botId: string,
  body?: string | Uint8Array,
  contentType: string | null = body === undefined ? null : 'text/plain',
  { headers, ...call }: Call = {},
): Promise<Answer> {
  return portico.api('POST', `fhir/R4/Bot/${botId}/$execute`, {
    ...call,
    body,
    headers: { ...(contentType === null ? {} : { 'content-type': contentType }), ...headers },
  });
}

export interface TestClient {
  id: string;
  secret: string;
  token: string;
}

/** A client of the Project that is no administrator unless told. */
export async function createClient(
  portico: Portico,
  fields: Record<string, unknown> = {},
  project: Project = projectOf(portico, 0),
): Promise<TestClient> {
  const answer = await portico.api('POST', `admin/projects/${project.id}/client`, {
    token: await portico.token(project),
    body: { name: 'Test client', ...fields },
  });
  if (answer.status !== 201) throw new Error(`No client: ${answer.status} ${answer.text}`);
  const { id, secret } = answer.json as { id: string; secret: string };
  return { id, secret, token: await requestToken(portico.baseUrl, id, secret) };
}

/** An AccessPolicy, straight into the table; answers its reference. */
export async function createPolicy(portico: Portico, resource: unknown): Promise<{ reference: string }> {
  named += 1;
  const project = projectOf(portico, 0).id;
  const id = `policy-${named}`;
  const policy: Resource = {
    resourceType: 'AccessPolicy',
    id,
    meta: { versionId: '1', lastUpdated: new Date().toISOString(), project },
    resource,
  };
  await portico.local.store.transact(createActions(project, policy));
  return { reference: `AccessPolicy/${id}` };
}

/** Changes a stored resource of the first Project, as somebody with the right to would. */
export async function change(
  portico: Portico,
  type: string,
  id: string,
  fields: Record<string, unknown>,
): Promise<void> {
  named += 1;
  const project = projectOf(portico, 0).id;
  const stored = await readStored(portico, type, id);
  const meta = { ...stored.meta, versionId: `changed-${named}`, lastUpdated: new Date().toISOString() };
  await portico.local.store.transact(updateActions(project, { ...stored, ...fields, meta }, stored));
}

async function readStored(portico: Portico, type: string, id: string): Promise<Resource> {
  const key = keys.resource(projectOf(portico, 0).id, type, id);
  const resource = storedResource((await portico.local.store.read([key])).get(key));
  if (!resource) throw new Error(`No ${type}/${id}`);
  return resource;
}

/** Id of the membership that was created with a Bot. */
export async function membershipOf(portico: Portico, botId: string): Promise<string> {
  const key = keys.resource(projectOf(portico, 0).id, 'Bot', botId);
  return String((await portico.local.store.read([key])).get(key)?.membershipId);
}

/** A Bot's execution records, first to last. */
export async function recordsOf(portico: Portico, botId: string): Promise<Resource[]> {
  const events = (await portico.local.scan(`#RUNS#${botId}#`))
    .filter(isAuditEvent)
    .flatMap((item) => storedResource(item) ?? []);
  return events
    .filter((event) => JSON.stringify(event.entity).includes(`Bot/${botId}"`))
    .filter((event) => JSON.stringify(event.subtype).includes('execute'))
    .sort((a, b) => (a.meta.lastUpdated < b.meta.lastUpdated ? -1 : 1));
}
