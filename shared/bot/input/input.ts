import { requireDepth } from '../../fhir/json-depth.ts';
import { Hl7Error } from '../../hl7/hl7-error.ts';
import { Hl7Message } from '../../hl7/message.ts';
import { Refusal } from '../../refusal.ts';
import { typedKeys } from '../../typed-keys.ts';
import type { RunInput } from '../contract.ts';
import { charsetFor, decodeBytes } from './charset.ts';
import { parseForm } from './form.ts';
import { type InputKind, inputTypes } from './input-types.ts';
import { parseMediaType } from './media-type.ts';

/** A Bot's `event.input`, and the charset in which it came. */
export interface Input {
  input: RunInput;
  charset: string;
}

/**
 * A request's body as a Bot's `event.input`, checked before any Bot runs.
 * @throws {Refusal} invalid when the body is not what its type says, unsupported-media-type otherwise
 */
export function parseInput(contentType: string | undefined, bytes: Buffer | undefined): Input {
  const media = parseMediaType(contentType);
  const isEmpty = bytes === undefined || bytes.length === 0;
  if (!media) {
    if (isEmpty) return { input: { kind: 'none' }, charset: 'utf-8' };
    throw unsupported();
  }
  const kind = typedKeys(inputTypes).find((one) => inputTypes[one] === media.type);
  if (kind === undefined) throw unsupported();
  if (isEmpty) return { input: emptyInput(kind), charset: 'utf-8' };
  const charset = kind === 'hl7' ? orRefuse(() => charsetFor(media, bytes)) : charsetFor(media, bytes);
  const advice = kind === 'hl7' && charset === 'utf-8' ? otherCharset : '';
  const text = decodeBytes(bytes, charset, advice).replace(/^\uFEFF/, '');
  return { input: { kind, text: parseText(kind, text, charset) }, charset };
}

const otherCharset = ': name its character set in MSH-18, or send it with charset=iso-8859-1';

function emptyInput(kind: InputKind): RunInput {
  const text = inputTexts[kind];
  if (text === undefined) throw new Refusal('invalid', 'Not an HL7 v2 message: the body is empty');
  return { kind, text };
}

/** What a missing body stands for. */
const inputTexts: Record<InputKind, string | undefined> = {
  text: '',
  json: '{}',
  form: '{}',
  fhir: '{}',
  hl7: undefined,
};

function parseText(kind: InputKind, text: string, charset: string): string {
  switch (kind) {
    case 'text':
      return text;
    case 'form':
      return JSON.stringify(parseForm(text, (run) => decodeBytes(run, charset)));
    case 'hl7':
      orRefuse(() => Hl7Message.parse(text));
      return text;
    case 'json':
      requireJson(text);
      return text;
    case 'fhir': {
      const value = requireJson(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text;
      throw new Refusal('invalid', 'A FHIR body must be a JSON object');
    }
  }
}

function requireJson(text: string): unknown {
  requireDepth(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('invalid', 'Content could not be parsed');
  }
}

function orRefuse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Hl7Error) throw new Refusal('invalid', error.message);
    throw error;
  }
}

function unsupported(): Refusal {
  return new Refusal(
    'unsupported-media-type',
    `Content-Type must be one of ${Object.values(inputTypes).join(', ')}`,
  );
}
