import {
  array,
  boolean,
  exactOptional,
  type GenericSchema,
  literal,
  number,
  object,
  picklist,
  string,
  variant,
} from 'valibot';
import type { Compiled, ReturnedValue, RunOutcome, RunResult } from './contract.ts';

const message = string();
const place = { line: exactOptional(number()), column: exactOptional(number()) };

const returned: GenericSchema<ReturnedValue> = variant('type', [
  object({ type: literal('undefined') }),
  object({ type: picklist(['json', 'string', 'hl7']), text: string() }),
]);

const outcome: GenericSchema<RunOutcome> = variant('kind', [
  object({ kind: literal('returned'), value: returned }),
  object({
    kind: literal('threw'),
    name: string(),
    message,
    stack: exactOptional(string()),
    outcome: exactOptional(string()),
  }),
  object({ kind: picklist(['unserialisable', 'no-handler', 'cancelled']), message }),
  object({ kind: literal('limit'), limit: picklist(['time', 'memory', 'output']), message }),
  object({ kind: literal('not-compiled'), message, ...place }),
]);

/** What the invoker answers to a run, and what is kept of it. */
export const runResult: GenericSchema<RunResult> = object({
  outcome,
  log: array(object({ atMs: number(), level: picklist(['debug', 'info', 'warn', 'error']), text: string() })),
  logTruncated: boolean(),
  durationMs: number(),
});

/** What it answers to a file that is to be compiled. */
export const compiled: GenericSchema<Compiled> = variant('kind', [
  object({
    kind: literal('compiled'),
    format: picklist(['esm', 'cjs']),
    text: string(),
    places: exactOptional(array(number())),
  }),
  object({ kind: literal('refused'), message, ...place }),
]);
