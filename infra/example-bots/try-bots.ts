import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { fieldsOf } from '../../shared/base/values.ts';
import { fetchPackages, nodeModules } from '../../shared/bots/sandbox/modules.ts';
import { answerHelp } from '../command.ts';
import { root } from '../files.ts';
import { withDemoStack } from '../local/demo.ts';
import { callsTo } from '../local/demo-projects.ts';

/** One file as authors make it with a bundler; what cannot be found stays an import, which `$deploy` refuses. */
async function bundleBot(file: string) {
  /** Files and packages that went into it. */
  const bundled: string[] = [];
  /** Files that the Bot imports and that are not there: empty in the bundle. */
  const missing: string[] = [];
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: [
      ...['@medplum/core', '@medplum/fhirtypes', 'hl7-standard', ...fetchPackages],
      ...nodeModules.flatMap((name) => [name, `node:${name}`]),
    ],
    nodePaths: [`${root}/node_modules`],
    write: false,
    logLevel: 'silent',
    plugins: [lenient(file, bundled, missing)],
  });
  return { code: outputFiles[0]?.text ?? '', bundled, missing };
}

/** What is not there is no reason to stop: an empty file, or an import that is left standing. */
function lenient(file: string, bundled: string[], missing: string[]): Plugin {
  return {
    name: 'lenient',
    setup({ onResolve, onLoad, resolve: find }) {
      onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind === 'entry-point' || pluginData === 'asked') return undefined;
        const found = await find(path, { kind, importer, resolveDir, pluginData: 'asked' });
        if (found.errors.length === 0) {
          if (!found.external && importer === file) bundled.push(path);
          return found;
        }
        if (!path.startsWith('.')) return { path, external: true };
        if (!existsSync(resolve(dirname(importer), path))) missing.push(path);
        return { path, namespace: 'missing' };
      });
      onLoad({ filter: /.*/, namespace: 'missing' }, () => ({
        contents: 'module.exports = {}',
        loader: 'js',
      }));
    },
  };
}

const examples = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r4.examples/package.json'));
const admission = fileURLToPath(new URL('../../examples/bots/adt-to-patient.hl7', import.meta.url));

interface BotInput {
  contentType: string;
  body: string;
}

/** Something that a Bot with this text takes: what it says of `event.input`, else an empty object. */
function inputFor(source: string): BotInput {
  const [, type = ''] = /BotEvent<\s*(\w+)/.exec(source) ?? /event\.input as (\w+)/.exec(source) ?? [];
  if (type === 'Hl7Message') {
    return { contentType: 'x-application/hl7-v2+er7', body: readFileSync(admission, 'utf8') };
  }
  const [example] = /^[A-Z]\w+$/.test(type) ? examplesOf(type) : [];
  if (example === undefined) return { contentType: 'application/json', body: '{}' };
  return { contentType: 'application/fhir+json', body: readFileSync(join(examples, example), 'utf8') };
}

/** FHIR's own examples of a type. */
function examplesOf(type: string): string[] {
  if (!existsSync(join(examples, `StructureDefinition-${type}.json`))) return [];
  return readdirSync(examples)
    .filter((name) => name.startsWith(`${type}-`) && name.endsWith('.json'))
    .sort();
}

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
  const call = callsTo(project.baseUrl);
  const post = (path: string, body: object | string, type = 'application/json') =>
    call('POST', path, { token: project.token, body, type });
  const trials: Trial[] = [];
  for (const file of files.sort()) {
    const made = await post(`admin/projects/${project.projectId}/bot`, { name: file });
    const run = async (operation: string, body: object | string, type?: string) =>
      refusalOf(await post(`fhir/R4/Bot/${made.json.id}/${operation}`, body, type));
    trials.push(await tryBot(folder, file, run));
  }
  return trials;
}

/** @param run asks for an operation of the Bot, and says why it was refused */
async function tryBot(
  folder: string,
  file: string,
  run: (operation: string, body: object | string, type?: string) => Promise<string | undefined>,
): Promise<Trial> {
  const source = readFileSync(join(folder, file), 'utf8');
  const remarks: string[] = [];
  let refused = await run('$deploy', { code: source, filename: 'index.ts' });
  if (/^Cannot import/.test(refused ?? '')) {
    const { code, bundled, missing } = await bundleBot(join(folder, file));
    refused = await run('$deploy', { code, filename: 'index.js' });
    if (refused === undefined && bundled.length > 0) remarks.push(`bundled with ${names(bundled)}`);
    if (refused === undefined && missing.length > 0)
      remarks.push(`without ${names(missing)}, not part of the samples`);
  }
  if (refused !== undefined) return { file, deploys: false, run: undefined, remarks: [plain(refused)] };
  const { body, contentType } = inputFor(source);
  const failed = await run('$execute', body, contentType);
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

function refusalOf({ status, json }: Awaited<ReturnType<ReturnType<typeof callsTo>>>): string | undefined {
  if (status === 200) return undefined;
  return String(fieldsOf(fieldsOf(fieldsOf(json.issue)[0]).details).text ?? 'no reason given');
}

const begin = '<!-- made by npm run example-bots -->';
const end = '<!-- end -->';

/** The document with its table made anew. @throws {Error} when it has no place for one */
export function withTable(document: string, trials: readonly Trial[]): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The document has no ${begin}`);
  return `${before}${begin}\n${tableOf(trials)}\n${end}${after}`;
}

function tableOf(trials: readonly Trial[]): string {
  const rows = trials.map(
    ({ file, deploys, run = '', remarks }) =>
      `| \`${nameOf(file)}\` | ${deploys ? 'yes' : 'no'} | ${run} | ${remarks.join('; ')} |`,
  );
  return ['| Bot | Deploys | One run | |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** Whether a Bot deploys and what its run came to, as the document says, by its name there. */
export function rowsOf(document: string): Map<string, Pick<Trial, 'deploys' | 'run'>> {
  const table = document.split(begin)[1]?.split(end)[0] ?? '';
  const rows = [...table.matchAll(/^\| `([^`]+)` \| (yes|no) \| (.*?) \|/gm)];
  return new Map(
    rows.map(([, name = '', deploys, run = '']) => [
      name,
      { deploys: deploys === 'yes', run: run || undefined },
    ]),
  );
}

/** Sample and file are enough to find it. */
export function nameOf(file: string): string {
  const [sample = '', ...path] = file.split('/');
  return `${sample}/${path.at(-1)}`;
}

/**
 * `npm run example-bots -- <folder>`: deploys the Bots of a folder to a stack of its own, runs each once, and
 * writes the table of docs/bots.md. Without a folder, those of Medplum that lie beside this repository.
 */
if (import.meta.main) {
  answerHelp(
    'npm run example-bots -- [folder]\n  deploys the Bots of the folder, runs each once, and writes the table of docs/bots.md\n',
  );
  const [, , folder = fileURLToPath(new URL('../../../shared/data/example-bots', import.meta.url))] =
    process.argv;
  const docs = fileURLToPath(new URL('../../docs/bots.md', import.meta.url));

  await withDemoStack('example-bots', async ({ baseUrl, project, token }) => {
    const trials = await tryBots(folder, { baseUrl, projectId: project.id, token });
    await writeFile(docs, withTable(await readFile(docs, 'utf8'), trials));
    for (const { file, deploys, run, remarks } of trials) {
      process.stdout.write(`${deploys ? 'deploys' : 'no'}\t${file}\t${run ?? ''}\t${remarks.join('; ')}\n`);
    }
  });
  process.exit(0);
}
