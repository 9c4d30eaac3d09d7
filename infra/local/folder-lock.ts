import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, fieldsOf } from '../../shared/base/values.ts';

/** Who holds a folder: a process id alone may have been given to another process since. */
interface Holder {
  pid: number;
  /** In clock ticks since boot; absent where there is no /proc. */
  startedAtTicks?: string;
}

/**
 * Keeps a second stack off a data folder; the lock of a process that no longer lives is taken over.
 * @returns `stop` frees the folder
 * @throws {Error} when a living process holds it
 */
export async function lockFolder(dataDir: string): Promise<{ stop(): Promise<void> }> {
  const path = join(dataDir, 'lock');
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(await holderOf(process.pid)), { mode: 0o600 });
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        // link() fails when the name exists, so of two that start at once one is refused.
        await link(draft, path);
        return { stop: () => rm(path, { force: true }) };
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') throw error;
      }
      const pid = await lockedBy(dataDir);
      if (pid !== undefined) throw new Error(`${dataDir} is in use by process ${pid}`);
      if (attempt > 2) throw new Error(`${dataDir} is in use`);
      await rm(path, { force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** The living process that holds a data folder, if any. */
export async function lockedBy(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'lock'), 'utf8').catch(() => '{}');
  const { pid, startedAtTicks } = fieldsOf(JSON.parse(text));
  if (typeof pid !== 'number' || !isAlive(pid)) return undefined;
  const now = await holderOf(pid);
  return now.startedAtTicks === startedAtTicks ? pid : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function holderOf(pid: number): Promise<Holder> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program's name, which may hold blanks and parentheses.
  const startedAtTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return startedAtTicks === undefined ? { pid } : { pid, startedAtTicks };
}
