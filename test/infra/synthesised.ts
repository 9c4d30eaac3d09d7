import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The app as `npm run synth` writes it: the one of PORTICO_FROM, else in a folder of its own. */
export async function synthesise(): Promise<{ folder: string; remove(): Promise<void> }> {
  const { PORTICO_FROM: written } = process.env;
  if (written !== undefined) return { folder: resolve(written), remove: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), 'portico-synth-'));
  const env = { ...process.env, CDK_OUTDIR: folder };
  await run(process.execPath, ['infra/app.ts'], { cwd: root, env, maxBuffer: 16 * 1024 * 1024 });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
