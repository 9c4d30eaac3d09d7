import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/**
 * The folder for temporary files, in memory where that has so much room: the engine waits for no disk then.
 * @param bytes that what is kept in it may grow to; usually enough for a stack
 */
export async function roomiestFolder(bytes = 1024 ** 3): Promise<string> {
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > bytes ? '/dev/shm' : tmpdir();
}
