import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, 'node_modules/.cache/portico');

/** Where the app is, or will be once it is built: a name made from its sources. */
async function siteFolder(): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of ['web', 'client/src', 'shared', 'examples/bots', 'infra/site']) {
    const files = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    for (const path of paths.sort()) hash.update(path.slice(root.length)).update(await readFile(path));
  }
  for (const file of ['package-lock.json', 'NOTICE']) hash.update(await readFile(join(root, file)));
  return join(cache, `site-${hash.digest('hex').slice(0, 16)}`);
}

/**
 * Builds the app into its folder unless it is there already. Processes that build at once do not
 * disturb each other.
 * @param signal ends a build that nobody waits for any more
 */
export async function buildSite(folder: string, signal?: AbortSignal): Promise<void> {
  if (await exists(folder)) return;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'building-'));
  try {
    const vite = fileURLToPath(new URL('./vite.ts', import.meta.url));
    // A process of its own: the bundler's native parts stay out of the stack's, and it can be ended.
    await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', vite, fresh], {
      cwd: root,
      ...(signal ? { signal } : {}),
    });
    await rename(fresh, folder);
  } catch (error) {
    if (!(await exists(folder))) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

export interface LocalSite {
  /** For the handler's SITE_DIR. */
  folder: string;
  /** Waits until the app is there; the first call builds it if its sources have changed. */
  built(): Promise<void>;
  /** Ends a build that is under way. */
  stop(): Promise<void>;
}

/** The administration app on a laptop, built when it is first asked for. */
export async function openSite(): Promise<LocalSite> {
  const folder = await siteFolder();
  const ending = new AbortController();
  let building: Promise<void> | undefined;
  return {
    folder,
    built() {
      building ??= buildSite(folder, ending.signal);
      return building;
    },
    async stop() {
      ending.abort();
      await building?.catch(() => undefined);
    },
  };
}

/** Called while CDK bundles the app's function: `node infra/site/build.ts <folder>` puts the app into it. */
if (realpathSync(process.argv[1] ?? '.') === fileURLToPath(import.meta.url)) {
  const [, , outDir] = process.argv;
  if (!outDir) throw new Error('Give a folder for the app');
  const built = await siteFolder();
  await buildSite(built);
  await cp(built, outDir, { recursive: true });
}
