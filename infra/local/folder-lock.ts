import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Keeps a second stack off a data folder. The lock of a process that no longer lives is taken over. */
export async function lockFolder(dataDir: string): Promise<() => Promise<void>> {
  const path = join(dataDir, 'lock');
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = Number(await readFile(path, 'utf8'));
    if (isAlive(holder)) throw new Error(`${dataDir} is in use by process ${holder}`);
    await writeFile(path, String(process.pid));
  }
  return () => rm(path, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
