/**
 * How a run and its result travel through Lambda, which takes 6 MB each way and escapes every quote
 * of a JSON string once more: large ones go deflated, small ones stay readable.
 */

import { deflateSync, inflateSync } from 'node:zlib';
import type { RunRequest, RunResult } from './contract.ts';

/** base64 of the deflated JSON text. */
export interface Deflated {
  deflated: string;
}

const DEFLATE_FROM_CHARACTERS = 100_000;
/** What a packed payload may unfold to: far above any honest one, far below a bomb. */
const INFLATED_BYTES = 64 * 1024 * 1024;

/** What to send to the invoker; the caller measures it against Lambda's 6 MB. */
export function packRun(request: RunRequest): RunRequest | Deflated {
  return pack(request);
}

/** The inverse of `packRun`. Throws a RangeError, SyntaxError or zlib error when it is no payload of ours. */
export function unpackRun(payload: RunRequest | Deflated): RunRequest {
  return unpack<RunRequest>(payload);
}

/** What the invoker answers. */
export function packResult(result: RunResult): RunResult | Deflated {
  return pack(result);
}

/** The inverse of `packResult`; throws as `unpackRun` does. */
export function unpackResult(payload: RunResult | Deflated): RunResult {
  return unpack<RunResult>(payload);
}

function pack<T extends object>(value: T): T | Deflated {
  const text = JSON.stringify(value);
  return text.length < DEFLATE_FROM_CHARACTERS
    ? value
    : { deflated: deflateSync(text, { level: 3 }).toString('base64') };
}

function unpack<T extends object>(payload: T | Deflated): T {
  if (!('deflated' in payload)) {
    return payload;
  }
  const bytes = inflateSync(Buffer.from(payload.deflated, 'base64'), { maxOutputLength: INFLATED_BYTES });
  return JSON.parse(bytes.toString('utf8')) as T;
}
