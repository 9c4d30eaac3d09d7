import { parseArgs } from 'node:util';
import { answerHelp } from '../infra/command.ts';
import { errorText } from '../shared/base/values.ts';

/**
 * The numbers that a command was given by these options, by the names that options have here. Ends the command with 2,
 * saying how it is used, when one is no number from 0 on or there is no such option.
 * @param command without what stands before its name
 * @param options by their names at the command line
 */
export function readInputs<Name extends string>(
  command: string,
  options: Readonly<Record<string, Name>>,
): Partial<Record<Name, number>> {
  const usage = `npm run ${command} -- ${Object.keys(options)
    .map((option) => `[--${option} <n>]`)
    .join(' ')}\n`;
  answerHelp(usage);
  try {
    const { values } = parseArgs({
      options: Object.fromEntries(Object.keys(options).map((name) => [name, { type: 'string' } as const])),
    });
    const given = Object.entries(values).map(([option, text]) => {
      const value = text === '' ? Number.NaN : Number(text);
      if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
        throw new Error(`--${option} ${text} is no number`);
      return [options[option], value];
    });
    return Object.fromEntries(given);
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n${usage}`);
    process.exit(2);
  }
}
