/** Bytes to text and back: UTF-8, UTF-16LE, Latin-1, hex and base64. Pure; malformed input is replaced. */

const CHUNK = 8192;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SEXTETS = new Uint8Array(256).fill(255);
for (let index = 0; index < 64; index++) {
  SEXTETS[ALPHABET.charCodeAt(index)] = index;
}
SEXTETS['-'.charCodeAt(0)] = 62;
SEXTETS['_'.charCodeAt(0)] = 63;

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

export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    bytes[index] = text.charCodeAt(index);
  }
  return bytes;
}

export function latin1Text(bytes: Uint8Array): string {
  const units = new Units();
  for (const byte of bytes) {
    units.push(byte);
  }
  return units.text();
}

export function utf16Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 2);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    bytes[index * 2] = code & 0xff;
    bytes[index * 2 + 1] = code >> 8;
  }
  return bytes;
}

export function utf16Text(bytes: Uint8Array): string {
  const units = new Units();
  for (let index = 0; index + 1 < bytes.length; index += 2) {
    units.push((bytes[index] as number) | ((bytes[index + 1] as number) << 8));
  }
  return units.text();
}

export function hexBytes(text: string): Uint8Array<ArrayBuffer> {
  const valid = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0] ?? '';
  const bytes = new Uint8Array(valid.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(valid.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

export function hexText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    text += (byte < 16 ? '0' : '') + byte.toString(16);
  }
  return text;
}

/** Both alphabets, with or without padding; other characters are skipped, as Node does. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x3d) {
      break;
    }
    const sextet = code < 256 ? (SEXTETS[code] as number) : 255;
    if (sextet === 255) {
      continue;
    }
    held = ((held << 6) | sextet) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
  }
  return bytes.slice(0, at);
}

export function base64Text(bytes: Uint8Array): string {
  const units = new Units();
  for (let index = 0; index < bytes.length; index += 3) {
    const left = bytes.length - index;
    const group = ((bytes[index] as number) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    units.push(ALPHABET.charCodeAt(group >> 18));
    units.push(ALPHABET.charCodeAt((group >> 12) & 63));
    units.push(left > 1 ? ALPHABET.charCodeAt((group >> 6) & 63) : 0x3d);
    units.push(left > 2 ? ALPHABET.charCodeAt(group & 63) : 0x3d);
  }
  return units.text();
}

export function base64UrlText(bytes: Uint8Array): string {
  return base64Text(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Code points gathered into a string in chunks that fit the stack. */
class Units {
  private readonly chunk = new Uint16Array(CHUNK + 2);
  private at = 0;
  private done = '';

  push(code: number): void {
    if (code > 0xffff) {
      this.chunk[this.at++] = 0xd800 + ((code - 0x10000) >> 10);
      this.chunk[this.at++] = 0xdc00 + ((code - 0x10000) & 0x3ff);
    } else {
      this.chunk[this.at++] = code;
    }
    if (this.at >= CHUNK) {
      this.flush();
    }
  }

  text(): string {
    this.flush();
    return this.done;
  }

  private flush(): void {
    this.done += String.fromCharCode(...this.chunk.subarray(0, this.at));
    this.at = 0;
  }
}
