import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Mutant, withMutant } from './points.ts';

const root = resolve(import.meta.dirname, '../..');
/** One that makes a loop of no end is killed by this. */
const mostMinutes = 10;

/** Files of the working tree that git has or would take, as paths from the root, in order. */
export function filesOfTree(): string[] {
  const wanted = ['-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', ['ls-files', ...wanted], { cwd: root, encoding: 'utf8' });
  return listed
    .split('\0')
    .filter((name) => name !== '' && existsSync(join(root, name)))
    .sort();
}

export const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/**
 * Runs tests on a copy of the tree that has the mutant: whatever ends this, the tree itself never has it.
 * @returns what killed it; undefined when it lived
 * @throws {Error} when the tests did not run
 */
export async function tryMutant(mutant: Mutant, ofJest: readonly string[]): Promise<string | undefined> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
  const copy = mkdtempSync(join(tmpdir(), 'portico-mutant-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  await copyTree(copy);
  await writeFile(join(copy, mutant.file), withMutant(textOf(mutant.file), mutant));
  const { code, said } = await runGroup('npm', ['test', '--', '--bail', ...ofJest], copy);
  if (code === 0) return undefined;
  if (code === 'overdue') return `a run that had no end within ${mostMinutes} minutes`;
  const [, file] = /^FAIL (\S+)/m.exec(said) ?? [];
  if (file === undefined) throw new Error(`The tests ended with code ${code} before one of them failed`);
  return `${file}: ${/^ {2}● (.+)/m.exec(said)?.[1]}`;
}

/** Packages are linked, one by one: what is built from the sources and kept beside them is built anew. */
async function copyTree(copy: string): Promise<void> {
  for (const file of filesOfTree()) cpSync(join(root, file), join(copy, file));
  await mkdir(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')).filter((one) => one !== '.cache'))
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
}

/** Runs a command whose processes are a group, and end with this one. */
async function runGroup(command: string, args: readonly string[], cwd: string) {
  // Neither bundles nor a stage that is deployed have the mutant.
  const env = { ...process.env, PORTICO_FROM: undefined, BASE_URL: undefined };
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'inherit', 'pipe'] });
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // No process is left in it.
    }
  };
  process.prependOnceListener('exit', endGroup);
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    endGroup();
  }, mostMinutes * 60_000);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    process.stderr.write(text);
  });
  const code = await new Promise<number | null>((ended, failed) =>
    child.once('close', ended).once('error', failed),
  );
  clearTimeout(timer);
  return { code: isOverdue ? 'overdue' : code, said };
}
