/**
 * Builds the folder that the sandbox's child process runs from. It is complete: the child may read
 * nothing else. The laptop, the tests and the Lambda's asset all get it from here.
 */

import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type ModuleName, moduleFile, moduleNames } from '../../shared/sandbox/modules.ts';
import { exportedNames } from './exported-names.ts';
import { moduleSource } from './module-source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);
/** Node 24's ABI: the addon of another one does not load. */
const ADDON_ABI = 'abi137';

/** Where the addon runs; glibc, as on Lambda and most laptops. */
export type GuestPlatform = 'linux-x64' | 'linux-arm64' | 'darwin-arm64' | 'win32-x64';

/**
 * Writes child.cjs, compiler.cjs, runtime.js, medplum-core.js, medplum-client.js (what of it the client alone needs),
 * hl7-standard.js, a script for each module, exports.json and isolated-vm.node into `outDir`. `platform` is this machine's unless told.
 */
export async function buildGuest(outDir: string, platform: GuestPlatform = thisPlatform()): Promise<void> {
  await mkdir(outDir, { recursive: true });
  await Promise.all([
    bundle(join(root, 'shared/sandbox/child/child.ts'), join(outDir, 'child.cjs'), { platform: 'node' }),
    bundle(join(root, 'shared/sandbox/compiler/compiler.ts'), join(outDir, 'compiler.cjs'), {
      platform: 'node',
    }),
    bundle(join(root, 'shared/sandbox/guest/runtime.ts'), join(outDir, 'runtime.js'), {
      banner:
        '(function (hostCallOfPortico, hostPostOfPortico) { "use strict"; const module = { exports: {} };',
      footer: 'return module.exports.start(hostCallOfPortico, hostPostOfPortico); })',
    }),
    bundle(require.resolve('hl7-standard'), join(outDir, 'hl7-standard.js'), library),
    ...moduleNames.map((name) => bundleModule(name, outDir)),
    exportedNames().then((names) =>
      Promise.all([
        writeFile(join(outDir, 'exports.json'), JSON.stringify(names)),
        bundle(medplum(names['@medplum/core']?.values ?? []), join(outDir, 'medplum-core.js'), medplumCore),
        bundle(medplum(['MedplumClient']), join(outDir, 'medplum-client.js'), medplumCore),
      ]),
    ),
    copyFile(addonOf(platform), join(outDir, 'isolated-vm.node')),
  ]);
}

/**
 * The built folder for this machine, made anew only when a source has changed (some 200 ms).
 * Processes that build at once do not disturb each other.
 */
export async function cachedGuest(): Promise<string> {
  const cache = join(root, 'node_modules/.cache/portico');
  const guestDir = join(cache, `guest-${await hashOfSources()}`);
  if (await exists(guestDir)) {
    return guestDir;
  }
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'building-'));
  await buildGuest(fresh);
  try {
    await rename(fresh, guestDir);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(guestDir))) {
      throw error;
    }
  }
  return guestDir;
}

interface Wrapping {
  platform?: 'node' | 'neutral';
  banner?: string;
  footer?: string;
}

const library: Wrapping = { banner: '(function (module, exports, require) {', footer: '})' };
/** A module of Node's or of ours; its exports are plain properties, its default the module itself. */
function bundleModule(name: ModuleName, outDir: string): Promise<void> {
  const own: Wrapping = {
    banner: '(function (module, exports, internalsOfPortico) {',
    footer: 'module.exports = Object.assign(module.exports.default ?? {}, module.exports); })',
  };
  return bundle(moduleSource(name), join(outDir, moduleFile(name)), name === 'events' ? library : own);
}

/** The client reads these constants when it is loaded; there are no sockets for it to open. */
const medplumCore: Wrapping = {
  banner: `${library.banner} const WebSocket = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };`,
  footer: '})',
};

/**
 * These exports of `@medplum/core`, taken from its ES modules, of which the bundler leaves out what none of
 * them needs. As plain properties: the getters of a transpiled module cost a third of its loading.
 */
function medplum(names: readonly string[]): { contents: string; resolveDir: string } {
  const entry = require.resolve('@medplum/core').replace('/cjs/index.cjs', '/esm/index.mjs');
  const contents = `import { ${names.join(', ')} } from ${JSON.stringify(entry)};
    module.exports = { ${names.join(', ')} };
    Object.defineProperty(module.exports, '__esModule', { value: true });`;
  return { contents, resolveDir: root };
}

async function bundle(
  entry: string | { contents: string; resolveDir: string },
  outfile: string,
  wrapping: Wrapping,
): Promise<void> {
  await build({
    ...(typeof entry === 'string' ? { entryPoints: [entry] } : { stdin: entry }),
    outfile,
    bundle: true,
    format: 'cjs',
    target: 'node24',
    platform: wrapping.platform ?? 'neutral',
    mainFields: ['main'],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: wrapping.banner ?? '' },
    footer: { js: wrapping.footer ?? '' },
  });
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

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(thisPlatform());
  for (const folder of ['shared/sandbox', 'shared/hl7', 'shared/bot', 'infra/guest']) {
    const files = await readdir(join(root, folder), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.ts')).sort()) {
      hash.update(file).update(await readFile(join(root, folder, file)));
    }
  }
  for (const name of ['package-lock.json', 'shared/limits.ts']) {
    hash.update(await readFile(join(root, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
