import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A working tree of a commit, with what it depends on. */
export interface Checkout {
  folder: string;
  commit: string;
  remove(): void;
}

/** The tree that this is. */
export function ownTree(): Checkout {
  return { folder: root, commit: git('rev-parse', '--short', 'HEAD'), remove: () => undefined };
}

/**
 * Any commit in a temporary folder. Its dependencies are ours where the lockfile is the same, else they are
 * installed there.
 * @throws {Error} when git or npm does
 */
export function checkOut(ref: string): Checkout {
  const folder = join(mkdtempSync(join(tmpdir(), 'portico-against-')), 'tree');
  git('worktree', 'add', '--detach', folder, ref);
  const remove = () => {
    git('worktree', 'remove', '--force', folder);
    rmSync(join(folder, '..'), { recursive: true, force: true });
  };
  try {
    if (lockfile(folder) === lockfile(root))
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] });
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, commit: git('rev-parse', '--short', ref), remove };
}

function lockfile(folder: string): string {
  return readFileSync(join(folder, 'package-lock.json'), 'utf8');
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}
