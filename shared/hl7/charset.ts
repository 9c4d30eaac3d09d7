import { Hl7Context } from './context.ts';
import { Hl7Error } from './hl7-error.ts';
import { parsePath, valuesAt } from './path.ts';
import { withoutFrame } from './segment-index.ts';

/** How the bytes of a message are to be read; `unsupported` when MSH-18 names another character set. */
export type Hl7Charset = 'utf-8' | 'us-ascii' | 'iso-8859-1' | 'unsupported';

/** The UTF-8 byte order mark, read as ISO 8859-1. */
const UTF8_MARK = '\u00EF\u00BB\u00BF';

/** HL7 table 0211 and what senders write instead, without blanks, hyphens, slashes and underscores. */
const CHARSETS: Record<string, Hl7Charset> = {
  '': 'utf-8',
  UTF8: 'utf-8',
  UNICODE: 'utf-8',
  UNICODEUTF8: 'utf-8',
  ASCII: 'us-ascii',
  USASCII: 'us-ascii',
  ISOIR6: 'us-ascii',
  '88591': 'iso-8859-1',
  ISO88591: 'iso-8859-1',
  ISOIR100: 'iso-8859-1',
  LATIN1: 'iso-8859-1',
};

/**
 * The character set that MSH-18 names first (HL7 v2.5.1 section 2.14.9.18), for a text whose bytes were read as
 * ISO 8859-1. Without MSH-18, and after a UTF-8 byte order mark, it is UTF-8, of which ASCII is a part.
 * Throws Hl7Error when the text does not begin like a message. Reads the first segment only.
 */
export function charsetOf(text: string): Hl7Charset {
  const isMarked = text.startsWith(UTF8_MARK);
  const body = isMarked ? text.slice(UTF8_MARK.length) : text;
  const [from, to] = withoutFrame(body);
  const lineEnd = body.slice(from, to).search(/[\r\n]/);
  const header = body.slice(from, lineEnd < 0 ? to : from + lineEnd);
  if (!header.startsWith('MSH')) {
    throw new Hl7Error('Not an HL7 v2 message: it must start with MSH');
  }
  const [named = ''] = valuesAt(header, parsePath('MSH.18[1]'), Hl7Context.fromHeader(header));
  const key = named.toUpperCase().replace(/[\s/_-]/g, '');
  return isMarked ? 'utf-8' : Object.hasOwn(CHARSETS, key) ? (CHARSETS[key] ?? 'unsupported') : 'unsupported';
}
