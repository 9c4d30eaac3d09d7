import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules/.cache/portico');

/** Writes a file for its owner's eyes only. It is renamed into place: nobody sees half of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text, { mode: 0o600 });
  await rename(`${path}.part`, path);
}

/**
 * Where something is that is made from sources, or will be: a name made from all that it is made from.
 * @param sources folders and files, from the root of the repository
 */
export async function cachedFolder(kind: string, sources: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) {
    for (const path of await filesOf(join(root, source))) {
      hash.update(relative(root, path)).update(await readFile(path));
    }
  }
  return join(cache, `${kind}-${hash.digest('hex').slice(0, 16)}`);
}

async function filesOf(source: string): Promise<string[]> {
  if ((await stat(source)).isFile()) return [source];
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Makes a folder unless it is there. Processes that make it at once do not disturb each other. */
export async function makeOnce(folder: string, make: (fresh: string) => Promise<unknown>): Promise<void> {
  if (await isThere(folder)) return;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'building-'));
  try {
    await make(fresh);
    await rename(fresh, folder);
  } catch (error) {
    if (!(await isThere(folder))) throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
