import { longestBodyBytes } from '../../../shared/base/limits.ts';

/** Input that is not HL7 v2 messages. The text never quotes it. */
export class NotMessages extends Error {
  override readonly name = 'NotMessages';
}

/** Line ends and the bounds of MLLP frames. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: frames are made of them
const mark = /([\r\n\v\u001c])/;
const envelope = new Set(['FHS', 'BHS', 'BTS', 'FTS']);

/**
 * The messages of a file or stream, each as soon as the next begins or the input ends: one after the
 * other, in MLLP frames, or in the envelope of a batch, which is left out. Line ends become the CR that the
 * standard wants; everything else stays as it is.
 * @throws {NotMessages}
 */
export async function* splitMessages(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let segments: string[] = [];
  let length = 0;
  let open = '';
  function* end(): Generator<Buffer> {
    if (segments.length > 0) yield Buffer.from(`${segments.join('\r')}\r`, 'latin1');
    segments = [];
    length = 0;
  }
  function* take(line: string): Generator<Buffer> {
    const segment = line.replace(/^\xef\xbb\xbf/, '');
    const name = segment.slice(0, 3);
    if (name === 'MSH' || envelope.has(name)) yield* end();
    if (segment.trim() === '' || envelope.has(name)) return;
    if (name !== 'MSH' && segments.length === 0) throw new NotMessages('A message must start with MSH');
    segments.push(segment);
    length += segment.length + 1;
    if (length > longestBodyBytes)
      throw new NotMessages(`A message is longer than ${longestBodyBytes} bytes`);
  }
  for await (const chunk of input) {
    // Every byte is a character, so that no character set is assumed.
    const pieces = Buffer.from(chunk).toString('latin1').split(mark);
    for (let at = 0; at < pieces.length; at += 2) {
      open += pieces[at] ?? '';
      const after = pieces[at + 1];
      if (after === undefined) break;
      yield* take(open);
      open = '';
      if (after === '\v' || after === '\x1c') yield* end();
    }
    if (open.length > longestBodyBytes)
      throw new NotMessages(`A message is longer than ${longestBodyBytes} bytes`);
  }
  yield* take(open);
  yield* end();
}
