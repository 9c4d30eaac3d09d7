/** How the text of a message is written as bytes. */
export interface Codec {
  decode(bytes: Uint8Array): string;
  /** What the character set does not have becomes `?`. */
  encode(text: string): Buffer;
}

/**
 * By the first name in MSH-18 (HL7 table 0211, and what senders write instead); undefined when it is not
 * one that we can write.
 */
export function codecFor(charset: string): Codec | undefined {
  const name = charset.toUpperCase().replace(/[\s/_-]/g, '');
  if (['', 'UNICODE', 'UNICODEUTF8', 'UTF8'].includes(name)) return utf8;
  const [, iso, windows] = /^(?:(?:ISO)?8859(1?\d)|(?:WINDOWS|CP)(125\d))$/.exec(name) ?? [];
  const label = iso ? `iso-8859-${iso}` : windows ? `windows-${windows}` : undefined;
  return label === undefined ? undefined : singleByte(label);
}

export const utf8: Codec = {
  decode: (bytes) => Buffer.from(bytes).toString('utf8'),
  encode: (text) => Buffer.from(text, 'utf8'),
};

/** Every byte is a character: what is copied from a text stays as it was, whatever it is written in. */
export const bytewise: Codec = {
  decode: (bytes) => Buffer.from(bytes).toString('latin1'),
  encode: (text) => Buffer.from(text.replace(/[^\0-\xff]/gu, '?'), 'latin1'),
};

/** @param label of the Encoding standard; undefined when this Node does not know it */
function singleByte(label: string): Codec | undefined {
  const characters = charactersOf(label);
  if (characters === undefined) return undefined;
  const bytes = new Map(characters.map((character, byte) => [character, byte]));
  return {
    decode: (encoded) => Array.from(encoded, (byte) => characters[byte]).join(''),
    encode(text) {
      const encoded = Buffer.alloc(text.length);
      let length = 0;
      for (const character of text) encoded[length++] = bytes.get(character) ?? 0x3f;
      return encoded.subarray(0, length);
    },
  };
}

/** What each byte stands for. */
function charactersOf(label: string): string[] | undefined {
  try {
    const all = Array.from(
      new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte)),
    );
    // The Encoding standard reads some of ISO 8859 as the Windows sets that grew from them.
    const isControl = (byte: number) => label.startsWith('iso') && byte >= 0x80 && byte < 0xa0;
    return all.map((character, byte) => (isControl(byte) ? String.fromCharCode(byte) : character));
  } catch {
    return undefined;
  }
}
