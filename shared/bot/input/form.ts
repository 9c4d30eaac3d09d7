import { Refusal } from '../../refusal.ts';

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
