import { Hl7Context, Hl7Error, parsePath, valuesAt } from './text.ts';

/** The UTF-8 byte order mark, read as ISO 8859-1. */
const utf8Mark = '\u00EF\u00BB\u00BF';
/** MSH behind the beginning of a frame, blank lines and the envelope of a batch (`segmentsIn` in message.ts). */
const firstHeader = /^[\uFEFF\v\r\n]*(?:[FB]HS[^\r\n]*[\r\n]+)*(MSH[^\r\n]*)/;

/** HL7 table 0211 and what senders write instead, without blanks, hyphens, slashes and underscores. */
const names: Readonly<Record<string, string>> = {
  '': 'utf-8',
  UTF8: 'utf-8',
  UNICODE: 'utf-8',
  UNICODEUTF8: 'utf-8',
  ASCII: 'us-ascii',
  USASCII: 'us-ascii',
  ISOIR6: 'us-ascii',
  ISOIR100: 'iso-8859-1',
  LATIN1: 'iso-8859-1',
};

/**
 * The character set that a name in MSH-18 means, as `iso-8859-15` or `windows-1252`: UTF-8, ASCII, the ISO 8859
 * family and the Windows sets beside it; undefined for every other.
 */
export function charsetNamed(name: string): string | undefined {
  const key = name.toUpperCase().replace(/[\s/_-]/g, '');
  if (Object.hasOwn(names, key)) return names[key];
  const [, iso, windows] = /^(?:(?:ISO)?8859([1-9]|1[013456])|(?:WINDOWS|CP)(125[0-8]))$/.exec(key) ?? [];
  if (iso !== undefined) return `iso-8859-${iso}`;
  return windows === undefined ? undefined : `windows-${windows}`;
}

/**
 * The character set that MSH-18 names first (HL7 v2.5.1 section 2.14.9.18), for a text whose bytes were read as
 * ISO 8859-1; undefined when it is none of `charsetNamed`. Without MSH-18, and after a UTF-8 byte order mark, it is
 * UTF-8, of which ASCII is a part. Throws Hl7Error when the text does not begin like a message. Reads no further
 * than MSH.
 */
export function charsetOf(text: string): string | undefined {
  const isMarked = text.startsWith(utf8Mark);
  const [, line] = firstHeader.exec(isMarked ? text.slice(utf8Mark.length) : text) ?? [];
  if (line === undefined) throw new Hl7Error('Not an HL7 v2 message: it must start with MSH');
  const header = line.endsWith('\u001C') ? line.slice(0, -1) : line;
  const [name = ''] = valuesAt(header, parsePath('MSH.18[1]'), Hl7Context.fromHeader(header));
  return isMarked ? 'utf-8' : charsetNamed(name);
}

/** How the text of a message is written as bytes. */
export interface Codec {
  /** A byte without a character becomes U+FFFD. */
  decode(bytes: Uint8Array): string;
  /** What the character set does not have becomes `?`. */
  encode(text: string): Buffer;
}

const utf8: Codec = {
  decode: (bytes) => Buffer.from(bytes).toString('utf8'),
  encode: (text) => Buffer.from(text, 'utf8'),
};

/** Every byte is a character: what is copied from a text stays as it was, whatever it is written in. */
export const bytewise: Codec = {
  decode: (bytes) => Buffer.from(bytes).toString('latin1'),
  encode: (text) => Buffer.from(text.replace(/[^\0-\xff]/gu, '?'), 'latin1'),
};

const made = new Map<string, Codec | undefined>([
  ['utf-8', utf8],
  ['iso-8859-1', bytewise],
]);

/** @param charset `utf-8`, or a single-byte set of the Encoding standard; undefined for every other */
export function codecOf(charset: string): Codec | undefined {
  if (!made.has(charset)) made.set(charset, singleByte(charset));
  return made.get(charset);
}

function singleByte(charset: string): Codec | undefined {
  const characters = /^(?:iso-8859-\d+|windows-\d+)$/.test(charset) ? charactersOf(charset) : undefined;
  if (characters === undefined) return undefined;
  const codes = characters.map((character) => character.charCodeAt(0));
  const bytes = new Map(characters.map((character, byte) => [character, byte]));
  return {
    decode: (encoded) =>
      Buffer.from(Uint16Array.from(encoded, (byte) => codes[byte] ?? 0).buffer).toString('utf16le'),
    encode(text) {
      const encoded = Buffer.alloc(text.length);
      let length = 0;
      for (const character of text) encoded[length++] = bytes.get(character) ?? 0x3f;
      return encoded.subarray(0, length);
    },
  };
}

/** What each byte stands for. */
function charactersOf(charset: string): string[] | undefined {
  try {
    const all = Array.from(
      new TextDecoder(charset).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte)),
    );
    // The Encoding standard reads some of ISO 8859 as the Windows sets that grew from them.
    const isControl = (byte: number) => charset.startsWith('iso') && byte >= 0x80 && byte < 0xa0;
    return all.map((character, byte) => (isControl(byte) ? String.fromCharCode(byte) : character));
  } catch {
    return undefined;
  }
}
