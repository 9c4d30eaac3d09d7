import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cachedFolder, makeOnce, root } from '../files.ts';

const sources = ['web', 'client/src', 'shared', 'examples/bots', 'infra/site', 'package-lock.json', 'NOTICE'];

/** Where the app is, or will be once it is built. */
const siteFolder = () => cachedFolder('site', sources);

/**
 * Builds the app into its folder unless it is there already.
 * @param signal ends a build that nobody waits for any more
 */
export async function buildSite(folder: string, signal?: AbortSignal): Promise<void> {
  const vite = fileURLToPath(new URL('./vite.ts', import.meta.url));
  const options = { cwd: root, ...(signal ? { signal } : {}) };
  // A process of its own: the bundler's native parts stay out of the stack's, and it can be ended.
  await makeOnce(folder, (fresh) =>
    promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', vite, fresh], options),
  );
}

/** The administration app on a laptop, built when it is first asked for. */
export async function openSite() {
  const folder = await siteFolder();
  const ending = new AbortController();
  let building: Promise<void> | undefined;
  return {
    /** For the handler's SITE_DIR. */
    folder,
    /** Waits until the app is there; the first call builds it if its sources have changed. */
    built(): Promise<void> {
      building ??= buildSite(folder, ending.signal);
      return building;
    },
    /** Ends a build that is under way. */
    async stop(): Promise<void> {
      ending.abort();
      await building?.catch(() => undefined);
    },
  };
}

/** Called while CDK bundles the app's function: `node infra/site/build.ts <folder>` puts the app into it. */
if (import.meta.main) {
  const [, , outDir] = process.argv;
  if (!outDir) throw new Error('Give a folder for the app');
  const built = await siteFolder();
  await buildSite(built);
  await cp(built, outDir, { recursive: true });
}
