/**
 * How a run and its result travel through Lambda, which takes 6 MB each way and escapes every quote
 * of a JSON string once more: large ones go deflated. The others stay as they are: a character takes
 * three bytes at most, and to deflate 100 KB and back costs more than all that Lambda does with them.
 */

import { deflateSync, inflateSync } from 'node:zlib';

/** base64 of the deflated JSON text. */
export interface Deflated {
  deflated: string;
}

const DEFLATE_FROM_CHARACTERS = 1_000_000;
/** What a packed payload may unfold to: far above any honest one, far below a bomb. */
const INFLATED_BYTES = 64 * 1024 * 1024;

/** The invoker's answer, which Lambda serialises. */
export function pack<T extends object>(value: T): T | Deflated {
  const text = JSON.stringify(value);
  return text.length < DEFLATE_FROM_CHARACTERS ? value : deflated(text);
}

/** A request to the invoker as JSON text; who sends it measures it against Lambda's 6 MB. */
export function packedText(value: object): string {
  const text = JSON.stringify(value);
  return text.length < DEFLATE_FROM_CHARACTERS ? text : JSON.stringify(deflated(text));
}

function deflated(text: string): Deflated {
  return { deflated: deflateSync(text, { level: 3 }).toString('base64') };
}

/** The inverse of both. Throws a RangeError, SyntaxError or zlib error when it is no payload of ours. */
export function unpack<T extends object>(payload: T | Deflated): T {
  if (!('deflated' in payload)) return payload;
  const bytes = inflateSync(Buffer.from(payload.deflated, 'base64'), { maxOutputLength: INFLATED_BYTES });
  return JSON.parse(bytes.toString('utf8')) as T;
}
