import { Hl7Context } from './context.ts';
import { Hl7Error } from './hl7-error.ts';
import { parsePath, valuesAt } from './path.ts';
import { withoutEnvelope, withoutFrame } from './segment-index.ts';

/** The UTF-8 byte order mark, read as ISO 8859-1. */
const utf8Mark = '\u00EF\u00BB\u00BF';

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
  const body = isMarked ? text.slice(utf8Mark.length) : text;
  const [frameFrom, to] = withoutFrame(body);
  const from = withoutEnvelope(body, frameFrom, to);
  const lineEnd = body.slice(from, to).search(/[\r\n]/);
  const header = body.slice(from, lineEnd < 0 ? to : from + lineEnd);
  if (!header.startsWith('MSH')) {
    throw new Hl7Error('Not an HL7 v2 message: it must start with MSH');
  }
  const [name = ''] = valuesAt(header, parsePath('MSH.18[1]'), Hl7Context.fromHeader(header));
  return isMarked ? 'utf-8' : charsetNamed(name);
}
