import { writeFile } from 'node:fs/promises';
import { errorText } from '../shared/base/values.ts';

/** Kinds of options, for `parseArgs`. */
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;

/** Of a command that is asked for `--help` or `-h`: prints how it is used, and ends well, whatever else was said. */
export function answerHelp(usage: string): void {
  if (!process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) return;
  process.stdout.write(usage);
  process.exit(0);
}

/**
 * Carries out a command that reads its own options. What it throws is said, with how the command is used, and ends it
 * with this exit code.
 */
export async function command(usage: string, failed: number, run: () => Promise<void>): Promise<void> {
  answerHelp(usage);
  try {
    await run();
  } catch (error) {
    // A pipe may not have taken yet all that was printed.
    await new Promise<void>((taken) => process.stdout.write('', () => taken()));
    endWithUsage(error, usage, failed);
  }
}

/** Says what was wrong and how the command is used, and ends it. */
export function endWithUsage(error: unknown, usage: string, exitCode: number): never {
  process.stderr.write(`${errorText(error)}\n${usage}`);
  process.exit(exitCode);
}

/** Writes files that are made from others, and says how long each is. @param path of each from the root of the repository */
export async function writeGenerated(files: readonly { path: string; text: string }[]): Promise<void> {
  for (const { path, text: written } of files) {
    await writeFile(new URL(`../${path}`, import.meta.url), written);
    process.stdout.write(`${path} ${written.length} characters\n`);
  }
}
