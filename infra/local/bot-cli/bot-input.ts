import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { compileCode } from '../../../functions/bots/compile-code.ts';
import { type TraceBack, traceBack } from '../../../shared/bot/code-places.ts';
import type { BotCode, RunInput } from '../../../shared/bot/contract.ts';
import { parseInput } from '../../../shared/bot/input/input.ts';
import type { InputType } from '../../../shared/bot/input/input-types.ts';
import type { Compiler } from '../../../shared/bot/invoker.ts';
import { superviseCompile } from '../../../shared/sandbox/supervised-compile.ts';
import { typedKeys } from '../../../shared/typed-keys.ts';
import { cachedGuest } from '../../guest/build.ts';

/** The end of a file's name for each content type; the first that fits is meant. */
const ends: Record<InputType, string> = {
  'application/fhir+json': '.fhir.json',
  'application/json': '.json',
  'x-application/hl7-v2+er7': '.hl7',
  'application/x-www-form-urlencoded': '.form',
  'text/plain': '.txt',
};

export interface BotFiles {
  code: BotCode;
  /** Turns lines of the code that runs into the author's. */
  traceBack: TraceBack | undefined;
  input: RunInput;
  contentType: string | undefined;
  /** Of the event, beside those of every run. */
  headers?: Record<string, string>;
}

/**
 * A Bot and its input as the service would take them: deployed from this file, executed with this body.
 * @param contentType by the input file's name when left out
 * @throws {Refusal} as $deploy and $execute refuse; Node's error when a file cannot be read
 */
export async function readBotFiles(
  botFile: string,
  inputFile: string | undefined,
  contentType: string | undefined = typedKeys(ends).find((type) => inputFile?.endsWith(ends[type])),
): Promise<BotFiles> {
  if (!/\.[cm]?[jt]s$/.test(botFile)) throw new Error(`${botFile} is neither JavaScript nor TypeScript`);
  const file = { project: 'local', source: await readFile(botFile, 'utf8'), filename: basename(botFile) };
  const { code, places } = await compileCode({ now: Date.now, invoker: await compiler() }, file);
  const body = inputFile === undefined ? undefined : await readFile(inputFile);
  const traced = places && traceBack(places);
  const { input } = parseInput(contentType, body);
  return { code, traceBack: traced, input, contentType };
}

/** As the invoker compiles. */
async function compiler(): Promise<Compiler> {
  const guestDir = await cachedGuest();
  return {
    compile: async (request) => ({ kind: 'result', result: await superviseCompile(guestDir, request) }),
  };
}
