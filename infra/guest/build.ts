/**
 * Builds the folder that the sandbox's child process runs from. It is complete: the child may read
 * nothing else. The laptop, the tests and the Lambda's asset all get it from here.
 */

import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import {
  clientLibrary,
  fetchPackages,
  type ModuleName,
  moduleNames,
  nodeModules,
  partNames,
  scriptFile,
} from '../../shared/bots/sandbox/modules.ts';
import { cachedFolder, makeOnce, root } from '../files.ts';

const require = createRequire(import.meta.url);
/** Node 24's ABI: the addon of another one does not load. */
const ADDON_ABI = 'abi137';

/** Where the addon runs; glibc, as on Lambda and most laptops. */
export type GuestPlatform = 'linux-x64' | 'linux-arm64' | 'darwin-arm64' | 'win32-x64';

/**
 * Writes child.cjs, compiler.cjs, a script for each of `scriptNames` (shared/bots/sandbox/modules.ts), exports.json and
 * isolated-vm.node into `outDir`. `platform` is this machine's unless told.
 */
async function buildGuest(outDir: string, platform: GuestPlatform = thisPlatform()): Promise<void> {
  await mkdir(outDir, { recursive: true });
  const names = await exportedNames();
  const script = (name: string) => join(outDir, scriptFile(name));
  await Promise.all([
    bundle(join(root, 'shared/bots/sandbox/child/child.ts'), join(outDir, 'child.cjs'), { platform: 'node' }),
    bundle(join(root, 'shared/bots/sandbox/child/compiler.ts'), join(outDir, 'compiler.cjs'), {
      platform: 'node',
    }),
    bundle(sourceOf('portico:runtime'), script('portico:runtime'), {
      banner:
        '(function (hostCallOfPortico, hostPostOfPortico) { "use strict"; const module = { exports: {} };',
      footer: 'return module.exports.start(module.exports); })',
    }),
    ...moduleNames.map((name) =>
      bundle(
        sourceOf(name),
        script(name),
        name === 'events' ? library : { ...own, plugins: [otherScripts(name)] },
      ),
    ),
    bundle(require.resolve('hl7-standard'), script('hl7-standard'), library),
    bundle(medplum(names['@medplum/core']?.values ?? []), script('@medplum/core'), medplumCore),
    bundle(medplum(['MedplumClient']), script(clientLibrary), medplumCore),
    writeFile(join(outDir, 'exports.json'), JSON.stringify(names)),
    copyFile(addonOf(platform), join(outDir, 'isolated-vm.node')),
  ]);
}

type Entry = string | { contents: string; resolveDir: string };

const guestFile = (name: string) => join(root, 'shared/bots/sandbox/guest', `${name}.ts`);

/** Scripts of several files, of which others use what they export. */
const chapters: Record<string, string[]> = {
  'portico:runtime': ['console', 'primordials', 'scope', 'timers', 'runtime'].map(guestFile),
  'portico:web': ['buffer', 'crypto', 'dom', 'encoding', 'fetch', 'url'].map((name) =>
    guestFile(`parts/${name}`),
  ),
};

/** Where a script comes from: a package where there is a good one, else the guest's own. */
function sourceOf(name: ModuleName | 'portico:runtime'): Entry {
  if (name === 'events') return require.resolve('events/events.js');
  const files = chapters[name];
  if (files) {
    const contents = files.map((file) => `export * from ${JSON.stringify(file)};`).join('');
    return { contents, resolveDir: root };
  }
  if (name.startsWith('portico:')) return guestFile(name.replace('portico:', 'parts/'));
  return guestFile(nodeModules.some((known) => known === name) ? `node/node-${name}` : 'node/web-fetch');
}

/** By file: which script it is, or is part of. */
const scriptOf = new Map(
  ['portico:runtime' as const, ...partNames].flatMap((name) =>
    (chapters[name] ?? [`${sourceOf(name)}`]).map((file): [string, string] => [file, name]),
  ),
);

/** Scripts of ours import each other as files; what is another script is required when they run. */
const otherScripts = (self: string): Plugin => ({
  name: 'scripts of the guest',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const script = scriptOf.get(join(resolveDir, path));
      return script === undefined || script === self ? undefined : { path: script, external: true };
    });
  },
});

interface Wrapping {
  platform?: 'node' | 'neutral';
  banner?: string;
  footer?: string;
  plugins?: Plugin[];
}

const library: Wrapping = { banner: '(function (module, exports, require) {', footer: '})' };
/**
 * Exports are plain properties, the default export is the module itself. Strict: a call site that a Bot looks at
 * gives away no function and no `this` of ours.
 */
const own: Wrapping = {
  banner: `${library.banner} "use strict";`,
  footer: 'module.exports = Object.assign(module.exports.default ?? {}, module.exports); })',
};
/** The client reads these constants when it is loaded; there are no sockets for it to open. */
const medplumCore: Wrapping = {
  banner: `${library.banner} const WebSocket = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };`,
  footer: '})',
};

/**
 * These exports of `@medplum/core`, taken from its ES modules, of which the bundler leaves out what none of
 * them needs. As plain properties: the getters of a transpiled module cost a third of its loading.
 */
function medplum(names: readonly string[]): Entry {
  const entry = require.resolve('@medplum/core').replace('/cjs/index.cjs', '/esm/index.mjs');
  const contents = `import { ${names.join(', ')} } from ${JSON.stringify(entry)};
    module.exports = { ${names.join(', ')} };
    Object.defineProperty(module.exports, '__esModule', { value: true });`;
  return { contents, resolveDir: root };
}

const entryOf = (entry: Entry) => (typeof entry === 'string' ? { entryPoints: [entry] } : { stdin: entry });

async function bundle(
  entry: Entry,
  outfile: string,
  { platform = 'neutral', banner = '', footer = '', plugins = [] }: Wrapping,
): Promise<void> {
  await build({
    ...entryOf(entry),
    outfile,
    bundle: true,
    format: 'cjs',
    target: 'node24',
    platform,
    mainFields: ['main'],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: banner },
    footer: { js: footer },
    plugins,
  });
}

/**
 * What an ES module may import, by specifier. Bots are written in TypeScript and often import types as if they were
 * values; stripping leaves such an import standing, so the names of types are exported too, as undefined.
 */
async function exportedNames(): Promise<Record<string, { values: string[]; types: string[] }>> {
  const core = Object.keys(require('@medplum/core') as object).filter((name) => name !== 'default');
  const fhir = join(dirname(require.resolve('@medplum/fhirtypes/package.json')), 'dist');
  const files = (await readdir(fhir)).filter((name) => name.endsWith('.d.ts'));
  const modules = [...nodeModules, ...fetchPackages].map(async (name) => {
    const values = name === 'events' ? Object.keys(require('events/events.js')) : await namesOf(name);
    return [name, { values: values.filter((one) => one !== 'default'), types: [] }] as const;
  });
  return {
    '@medplum/core': {
      values: core,
      types: await typesIn([require.resolve('@medplum/core').replace(/cjs$/, 'd.ts')], core),
    },
    '@medplum/fhirtypes': {
      values: [],
      types: await typesIn(
        files.map((name) => join(fhir, name)),
        [],
      ),
    },
    'hl7-standard': { values: [], types: [] },
    ...Object.fromEntries(await Promise.all(modules)),
  };
}

async function namesOf(name: ModuleName): Promise<string[]> {
  const { metafile } = await build({
    ...entryOf(sourceOf(name)),
    bundle: true,
    format: 'esm',
    metafile: true,
    write: false,
    logLevel: 'warning',
    plugins: [otherScripts(name)],
  });
  return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

async function typesIn(files: readonly string[], values: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const names = texts.flatMap((text) =>
    [...text.matchAll(/^\s*export (?:declare )?(?:interface|type) (\w+)/gm)].map(([, name = '']) => name),
  );
  return [...new Set(names)].filter((name) => !values.includes(name)).sort();
}

/** The built folder for this machine, made anew only when a source has changed (some 200 ms). */
export async function cachedGuest(): Promise<string> {
  const sources = ['sandbox', 'hl7', 'run'].map((name) => `shared/bots/${name}`);
  const others = ['infra/guest', 'package-lock.json', 'shared/base/limits.ts'];
  const guestDir = await cachedFolder(`guest-${thisPlatform()}`, [...sources, ...others]);
  await makeOnce(guestDir, buildGuest);
  return guestDir;
}

/** This machine's. */
export function thisPlatform(): GuestPlatform {
  return `${process.platform}-${process.arch}` as GuestPlatform;
}

/** The sandbox's native addon for a platform, as the package brings it. */
export function addonOf(platform: GuestPlatform): string {
  const libc = platform.startsWith('linux') ? '.glibc' : '';
  const folder = join(dirname(require.resolve('isolated-vm')), 'prebuilds', platform);
  return join(folder, `isolated-vm.${ADDON_ABI}${libc}.node`);
}

/** Called while CDK bundles the invoker: `node infra/guest/build.ts <folder> <platform>`. */
if (import.meta.main) {
  const [, , outDir, platform] = process.argv;
  if (!outDir) throw new Error('Give a folder for the guest');
  await buildGuest(outDir, platform as GuestPlatform | undefined);
}
