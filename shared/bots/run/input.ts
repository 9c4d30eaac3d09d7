import { isAscii, isUtf8 } from 'node:buffer';
import { requireDepth } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';
import { typedKeys } from '../../base/values.ts';
import { type MediaType, parseMediaType } from '../../carry/http/request.ts';
import { charsetOf, codecOf } from '../hl7/charset.ts';
import { Hl7Message } from '../hl7/message.ts';
import { Hl7Error } from '../hl7/text.ts';
import { type InputKind, inputTypes, type RunInput } from './contract.ts';

/** Types that reach us as bytes; of text and JSON API Gateway has already made a UTF-8 string. */
const asBytes = new Set<string>([inputTypes.hl7, inputTypes.form, inputTypes.fhir]);

/**
 * The charset of a body, as `utf-8`, `us-ascii` or a set of `codecOf`: what the parameter says, for HL7 else what
 * MSH-18 says, else UTF-8. A name in MSH-18 that we do not know is no matter while all bytes are ASCII.
 * @throws {Refusal} unsupported-media-type for any but utf-8, us-ascii and, for byte types, iso-8859-1
 */
export function charsetFor({ type, charset }: MediaType, bytes: Buffer): string {
  if (charset === undefined) return type === inputTypes.hl7 ? charsetOfMessage(bytes) : 'utf-8';
  switch (charset.toLowerCase()) {
    case 'utf-8':
    case 'utf8':
      return 'utf-8';
    case 'us-ascii':
    case 'ascii':
      return 'us-ascii';
    case 'iso-8859-1':
    case 'iso_8859-1':
    case 'latin1':
      if (asBytes.has(type)) return 'iso-8859-1';
  }
  throw new Refusal(
    'unsupported-media-type',
    `The charset of ${type} must be utf-8 or us-ascii, for bytes also iso-8859-1`,
  );
}

/** @throws {Hl7Error} when it does not begin like a message */
function charsetOfMessage(bytes: Buffer): string {
  const charset = charsetOf(bytes.toString('latin1')) ?? (isAscii(bytes) ? 'us-ascii' : undefined);
  if (charset !== undefined) return charset;
  throw new Refusal(
    'unsupported-media-type',
    'MSH-18 names a character set that is not read: send UTF-8, one of ISO 8859 or windows-1252',
  );
}

/**
 * Bytes as text; nothing is ever replaced, no byte order mark taken away.
 * @param advice what to do about bytes that are not of the charset
 * @throws {Refusal} invalid
 */
export function decodeBytes(bytes: Buffer, charset: string, advice = ''): string {
  const text = decoded(bytes, charset);
  if (text !== undefined) return text;
  throw new Refusal('invalid', `The body is not valid ${charset}${advice}`);
}

function decoded(bytes: Buffer, charset: string): string | undefined {
  if (charset === 'utf-8') return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  if (charset === 'us-ascii') return isAscii(bytes) ? bytes.toString('latin1') : undefined;
  const text = codecOf(charset)?.decode(bytes);
  // No byte stands for this character: it is what one becomes that stands for none.
  return text?.includes('\uFFFD') ? undefined : text;
}

/** A text in the charset in which its question came, or in UTF-8 where it says what that one cannot. */
export function encodeAnswer(text: string, charset: string): { bytes: Buffer; charset: string } {
  const codec = codecOf(charset);
  const bytes = codec?.encode(text);
  if (codec && bytes && codec.decode(bytes) === text) return { bytes, charset };
  return { bytes: Buffer.from(text, 'utf8'), charset: 'utf-8' };
}

const mostKeys = 1000;

/**
 * application/x-www-form-urlencoded (URL standard) into a record without prototype; a repeated key
 * keeps its last value. Escapes are bytes in the charset that `decode` reads.
 * @throws {Refusal} invalid on a bad escape, on bytes that are not the charset, above 1,000 keys
 */
export function parseForm(text: string, decode: (bytes: Buffer) => string): Record<string, string> {
  const form: Record<string, string> = Object.create(null);
  let count = 0;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const [key, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    const name = unescapeText(key, decode);
    if (!(name in form) && ++count > mostKeys)
      throw new Refusal('invalid', `A form has at most ${mostKeys} keys`);
    form[name] = unescapeText(value, decode);
  }
  return form;
}

function unescapeText(text: string, decode: (bytes: Buffer) => string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  if (/%(?![0-9a-fA-F]{2})/.test(spaced)) throw new Refusal('invalid', 'The form has a bad escape');
  return spaced.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
    decode(Buffer.from(run.replaceAll('%', ''), 'hex')),
  );
}

/**
 * A request's body as a Bot's `event.input`, checked before any Bot runs, and the charset in which it came.
 * @throws {Refusal} invalid when the body is not what its type says, unsupported-media-type otherwise
 */
export function parseInput(
  contentType: string | undefined,
  bytes: Buffer | undefined,
): { input: RunInput; charset: string } {
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

/** What a missing body stands for. */
function emptyInput(kind: InputKind): RunInput {
  if (kind === 'hl7') throw new Refusal('invalid', 'Not an HL7 v2 message: the body is empty');
  return { kind, text: kind === 'text' ? '' : '{}' };
}

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
