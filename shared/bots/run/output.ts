import { longestAnswerBytes } from '../../base/limits.ts';
import { fieldsOf } from '../../base/values.ts';
import { inputTypes, type LogEntry, type ReturnedValue, type RunOutcome } from './contract.ts';

/** What the caller is answered: a value, or why there is none. Pure; HTTP is made of it elsewhere. */
export type Output =
  | { kind: 'ok' }
  | { kind: 'text'; text: string; mediaType: string }
  | { kind: 'binary'; bytes: Buffer; mediaType: string; inline: boolean }
  | { kind: 'outcome'; status: number; text: string }
  | { kind: 'failure'; code: FailureCode; text: string };

type FailureCode = 'exception' | 'processing' | 'timeout' | 'too-costly' | 'too-long' | 'invalid';

/**
 * A run's outcome as the answer of SPEC section 4.
 * @param requestType media type of the request: text and HL7 callers get strings raw
 */
export function outputOf(outcome: RunOutcome, requestType: string | undefined): Output {
  switch (outcome.kind) {
    case 'returned':
      return returned(outcome.value, requestType);
    case 'threw':
      if (outcome.outcome !== undefined) return thrownOutcome(outcome.outcome, outcome.message);
      return { kind: 'failure', code: 'exception', text: outcome.message };
    case 'unserialisable':
      return { kind: 'failure', code: 'invalid', text: outcome.message };
    case 'cancelled':
      return { kind: 'failure', code: 'processing', text: outcome.message };
    case 'limit':
      return { kind: 'failure', code: limitCodes[outcome.limit], text: outcome.message };
    case 'not-compiled':
    case 'no-handler':
      return { kind: 'failure', code: 'exception', text: outcome.message };
  }
}

const limitCodes = { time: 'timeout', memory: 'too-costly', output: 'too-long' } as const;
const rawTypes = new Set<string>([inputTypes.text, inputTypes.hl7]);

function returned(value: ReturnedValue, requestType: string | undefined): Output {
  switch (value.type) {
    case 'undefined':
      return { kind: 'ok' };
    case 'hl7':
      return { kind: 'text', text: value.text, mediaType: inputTypes.hl7 };
    case 'string':
      return requestType !== undefined && rawTypes.has(requestType)
        ? { kind: 'text', text: value.text, mediaType: requestType }
        : asJson(value.text);
    case 'json':
      return json(value.text);
  }
}

/** Escapes make a text up to six times as long: one that no answer holds would be a 502 of API Gateway. */
function asJson(value: string): Output {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) <= longestAnswerBytes)
    return { kind: 'text', text, mediaType: 'application/json' };
  return { kind: 'failure', code: 'too-long', text: 'The text that the Bot returned is too long as JSON' };
}

function json(text: string): Output {
  const { resourceType, contentType, data } = fieldsOf(JSON.parse(text));
  if (typeof resourceType !== 'string') return { kind: 'text', text, mediaType: 'application/json' };
  if (resourceType === 'Binary' && typeof data === 'string') return binary(data, contentType);
  return { kind: 'text', text, mediaType: 'application/fhir+json' };
}

/** Types that no browser runs as a page; everything else is offered as a download. */
export const inlineTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'application/pdf',
  'text/plain',
]);

function binary(data: string, contentType: unknown): Output {
  // No two neighbours of the pattern take the same character: 4 MiB that nearly match stay linear.
  if (!/^[A-Za-z0-9+/\s]*(?:=\s*){0,2}$/.test(data)) {
    return { kind: 'failure', code: 'invalid', text: 'Binary.data is not base64' };
  }
  const isType =
    typeof contentType === 'string' && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(; *[\w-]+=[\w.-]+)*$/.test(contentType);
  const mediaType = isType ? contentType : 'application/octet-stream';
  const inline = inlineTypes.has(mediaType.split(';')[0]?.toLowerCase() ?? '');
  return { kind: 'binary', bytes: Buffer.from(data, 'base64'), mediaType, inline };
}

/** An outcome that the Bot threw: its status passes through unless clients would repeat the call on it. */
function thrownOutcome(text: string, message: string): Output {
  const { resourceType, id, issue } = fieldsOf(JSON.parse(text));
  if (resourceType !== 'OperationOutcome') return { kind: 'failure', code: 'exception', text: message };
  const status = statusOf(id) ?? statusOf(fieldsOf(fieldsOf(issue)[0]).code) ?? 400;
  return { kind: 'outcome', status, text };
}

/** @param word of the Bot's: any JSON value, which not even String takes without harm */
function statusOf(word: unknown): number | undefined {
  return typeof word === 'string' ? statusByWord.get(word) : undefined;
}

/** By OperationOutcome.id as clients of this field set it, else by issue code. */
const statusByWord: ReadonlyMap<string, number> = new Map([
  ['forbidden', 403],
  ['not-found', 404],
  ['conflict', 409],
  ['gone', 410],
  ['deleted', 410],
  ['precondition-failed', 412],
  ['multiple-matches', 412],
  ['unprocessable-entity', 422],
]);

/** A log as administrators read it in an answer: one entry a line, line ends escaped. */
export function printLog(log: readonly LogEntry[], truncated: boolean): string {
  const lines = log.map(
    ({ atMs, level, text }) =>
      `${new Date(atMs).toISOString()} ${level.toUpperCase()} ${JSON.stringify(text).slice(1, -1)}`,
  );
  return [...lines, ...(truncated ? ['(log truncated)'] : [])].join('\n');
}
