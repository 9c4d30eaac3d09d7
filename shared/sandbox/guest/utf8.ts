/** UTF-8, as WHATWG's Encoding has it. Malformed input is replaced. */

import { Units } from './units.ts';

/** Lone surrogates become U+FFFD, as everywhere on the web. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 3);
  let at = 0;
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index);
    if (code < 0x80) {
      bytes[at++] = code;
      continue;
    }
    if (code >= 0xd800 && code <= 0xdfff) {
      const next = code < 0xdc00 ? text.charCodeAt(index + 1) : 0;
      const paired = next >= 0xdc00 && next <= 0xdfff;
      code = paired ? 0x10000 + ((code - 0xd800) << 10) + (next - 0xdc00) : 0xfffd;
      index += paired ? 1 : 0;
    }
    if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6);
    } else if (code < 0x10000) {
      bytes[at++] = 0xe0 | (code >> 12);
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
    } else {
      bytes[at++] = 0xf0 | (code >> 18);
      bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
    }
    bytes[at++] = 0x80 | (code & 0x3f);
  }
  return bytes.slice(0, at);
}

/** `fatal` throws a TypeError instead of replacing. A byte order mark is kept. */
export function utf8Text(bytes: Uint8Array, fatal = false): string {
  const units = new Units();
  let index = 0;
  while (index < bytes.length) {
    const lead = bytes[index] as number;
    if (lead < 0x80) {
      units.push(lead);
      index += 1;
      continue;
    }
    const [code, length] = sequence(bytes, index, lead);
    if (code < 0 && fatal) {
      throw new TypeError('The encoded data was not valid utf-8');
    }
    units.push(code < 0 ? 0xfffd : code);
    index += length;
  }
  return units.text();
}

/** The code point at `index` (-1 when malformed) and how many bytes to go on (WHATWG: maximal subpart). */
function sequence(bytes: Uint8Array, index: number, lead: number): [code: number, length: number] {
  const need =
    lead >= 0xc2 && lead <= 0xdf
      ? 1
      : lead >= 0xe0 && lead <= 0xef
        ? 2
        : lead >= 0xf0 && lead <= 0xf4
          ? 3
          : 0;
  if (need === 0) {
    return [-1, 1];
  }
  let code = lead & (0x3f >> need);
  let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let step = 1; step <= need; step++) {
    const byte = bytes[index + step] ?? 0;
    if (byte < low || byte > high) {
      return [-1, step];
    }
    low = 0x80;
    high = 0xbf;
    code = (code << 6) | (byte & 0x3f);
  }
  return [code, need + 1];
}
