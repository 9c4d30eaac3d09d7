import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf } from '../../shared/fields-of.ts';
import { bundleBot } from './bundle-bot.ts';
import { type BotInput, inputFor } from './input-for.ts';

/** A Project of some stage, with an administrator's token. */
export interface TrialProject {
  baseUrl: string;
  projectId: string;
  token: string;
}

/** What became of one Bot. */
export interface Trial {
  /** Path below the folder. */
  file: string;
  deploys: boolean;
  /** What one run came to: `returned`, or what the Bot threw; undefined when it was not deployed. */
  run: string | undefined;
  /** With what it was bundled, or why it was not deployed. */
  remarks: string[];
}

/** Deploys each Bot of a folder and runs it once, as it is or bundled when it imports what a Bot does not have. */
export async function tryBots(folder: string, project: TrialProject): Promise<Trial[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const trials: Trial[] = [];
  for (const file of files.sort()) trials.push(await tryBot(folder, file, project));
  return trials;
}

async function tryBot(folder: string, file: string, project: TrialProject): Promise<Trial> {
  const source = readFileSync(join(folder, file), 'utf8');
  const bot = await createBot(file, project);
  const remarks: string[] = [];
  let refused = await deploy(bot, { code: source, filename: 'index.ts' }, project);
  if (/^Cannot import/.test(refused ?? '')) {
    const { code, bundled, missing } = await bundleBot(join(folder, file));
    refused = await deploy(bot, { code, filename: 'index.js' }, project);
    if (refused === undefined && bundled.length > 0) remarks.push(`bundled with ${names(bundled)}`);
    if (refused === undefined && missing.length > 0)
      remarks.push(`without ${names(missing)}, not part of the samples`);
  }
  if (refused !== undefined) return { file, deploys: false, run: undefined, remarks: [plain(refused)] };
  const failed = await execute(bot, inputFor(source), project);
  return { file, deploys: true, run: failed === undefined ? 'returned' : plain(failed), remarks };
}

const names = (list: readonly string[]) => list.map((name) => `\`${name}\``).join(', ');

/** Without what differs from run to run, as a cell of the table. */
function plain(message: string): string {
  return message
    .replace(/ \(line \d+, column \d+\)$/, '')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    .replace(/fetch failed(?:: \w+)?/g, 'fetch failed')
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|');
}

async function createBot(name: string, { projectId, ...project }: TrialProject): Promise<string> {
  const answer = await post(`admin/projects/${projectId}/bot`, { name }, project);
  return String(fieldsOf(answer.json).id);
}

/** @returns why not */
async function deploy(bot: string, body: object, project: TrialProject): Promise<string | undefined> {
  const { status, json } = await post(`fhir/R4/Bot/${bot}/$deploy`, body, project);
  return status === 200 ? undefined : textOf(json);
}

/** @returns how it failed */
async function execute(bot: string, input: BotInput, project: TrialProject): Promise<string | undefined> {
  const { status, json } = await post(`fhir/R4/Bot/${bot}/$execute`, input.body, project, input.contentType);
  return status === 200 ? undefined : textOf(json);
}

function textOf(outcome: unknown): string {
  return String(fieldsOf(fieldsOf(fieldsOf(fieldsOf(outcome).issue)[0]).details).text ?? 'no reason given');
}

async function post(
  path: string,
  body: object | string,
  { baseUrl, token }: Pick<TrialProject, 'baseUrl' | 'token'>,
  contentType = 'application/json',
): Promise<{ status: number; json: unknown }> {
  const response = await fetch(`${baseUrl}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    json: /json/.test(`${response.headers.get('content-type')}`) ? JSON.parse(text) : text,
  };
}
