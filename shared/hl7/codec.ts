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

const chunkBytes = 8192;

function singleByte(charset: string): Codec | undefined {
  const characters = /^(?:iso-8859-\d+|windows-\d+)$/.test(charset) ? charactersOf(charset) : undefined;
  if (characters === undefined) return undefined;
  const codes = characters.map((character) => character.charCodeAt(0));
  const bytes = new Map(characters.map((character, byte) => [character, byte]));
  return {
    decode(encoded) {
      let text = '';
      for (let from = 0; from < encoded.length; from += chunkBytes) {
        const chunk = encoded.subarray(from, from + chunkBytes);
        text += String.fromCharCode(...Array.from(chunk, (byte) => codes[byte] ?? 0));
      }
      return text;
    },
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
