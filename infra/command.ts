import { writeFile } from 'node:fs/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { Refusal } from '../shared/base/refusal.ts';
import { errorText } from '../shared/base/values.ts';

/** Kinds of options, for `parseArgs`. */
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const texts = { ...text, multiple: true as const, default: [] as string[] };

/** Of a command that is asked for `--help` or `-h`: prints how it is used, and ends well, whatever else was said. */
export function answerHelp(usage: string): void {
  if (!process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) return;
  process.stdout.write(usage);
  process.exit(0);
}

/** What a command takes, and its exit code when it fails. */
interface Taken extends Pick<ParseArgsConfig, 'options' | 'allowPositionals' | 'allowNegative'> {
  failed: number;
}

/** What a command was given of what it takes. */
export type Given<Config extends Taken> = ReturnType<typeof parseArgs<Config>>;

/**
 * Carries out a command. What it throws is said, with how the command is used unless the service refuses what it was
 * given, and ends it with the exit code.
 */
export async function command<const Config extends Taken>(
  usage: string,
  taken: Config,
  run: (given: Given<Config>) => Promise<void>,
): Promise<void> {
  answerHelp(usage);
  try {
    await run(parseArgs<Config>({ ...taken, args: process.argv.slice(2) }));
  } catch (error) {
    // A pipe may not have taken yet all that was printed.
    await new Promise<void>((written) => process.stdout.write('', () => written()));
    const said =
      error instanceof Refusal
        ? error.issues.map((issue) => `${issue.text}\n`).join('')
        : `${errorText(error)}\n${usage}`;
    process.stderr.write(said);
    process.exit(taken.failed);
  }
}

/** Writes files that are made from others, and says how long each is. @param path of each from the root of the repository */
export async function writeGenerated(files: readonly { path: string; text: string }[]): Promise<void> {
  for (const { path, text: written } of files) {
    await writeFile(new URL(`../${path}`, import.meta.url), written);
    process.stdout.write(`${path} ${written.length} characters\n`);
  }
}
