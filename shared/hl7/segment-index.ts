import { Hl7Error } from './hl7-error.ts';

const BATCH = new Set(['FHS', 'BHS', 'BTS', 'FTS']);
const ENVELOPE = /^(?:FHS|BHS)/;

/** Where the segments of a received text begin and end. One pass, two numbers a segment, no copies. */
export class SegmentIndex {
  readonly #text: string;
  #bounds: number[] = [];

  /**
   * Skips a byte order mark, MLLP framing (0x0B … 0x1C 0x0D), blank lines and the envelope of a batch; a segment
   * ends with CR, LF or CRLF. Throws Hl7Error unless the text holds exactly one message.
   */
  constructor(text: string) {
    this.#text = text;
    const [from, to] = withoutFrame(text);
    const next = (mark: string, at: number) => {
      const found = text.indexOf(mark, at);
      return found < 0 || found > to ? to : found;
    };
    let cr = next('\r', from);
    let lf = next('\n', from);
    for (let start = from; start < to; ) {
      const end = Math.min(cr, lf);
      if (text.slice(start, end).trim() !== '') {
        this.#bounds.push(start, end);
      }
      start = end + 1;
      // Each mark is looked for only behind the last one found, so the text is passed over once per mark.
      cr = cr < start ? next('\r', start) : cr;
      lf = lf < start ? next('\n', start) : lf;
    }
    this.#requireOneMessage();
  }

  get count(): number {
    return this.#bounds.length / 2;
  }

  /** The text of the segment number `position` (from 0), exactly as received. */
  textAt(position: number): string {
    return this.#text.slice(this.#bounds[2 * position], this.#bounds[2 * position + 1]);
  }

  #requireOneMessage(): void {
    const isBatch = this.count > 0 && ENVELOPE.test(this.textAt(0).slice(0, 3));
    if (isBatch) {
      this.#dropEnvelope();
    }
    const header = this.count > 0 ? this.textAt(0).slice(0, 4) : '';
    if (!header.startsWith('MSH')) {
      throw new Hl7Error(
        isBatch ? 'The batch (FHS, BHS) holds no message' : 'Not an HL7 v2 message: it must start with MSH',
      );
    }
    const more = this.#countBoundaries(header);
    if (more > 0) {
      throw new Hl7Error(
        isBatch
          ? `The batch (FHS, BHS) holds ${more + 1} messages: send them one by one`
          : 'More than one HL7 v2 message: send one message per call',
      );
    }
  }

  /** HL7 v2.5.1 section 2.10.3: what stands around the messages of a file or batch. */
  #dropEnvelope(): void {
    const kept: number[] = [];
    for (let at = 0; at < this.#bounds.length; at += 2) {
      const [start = 0, end = 0] = this.#bounds.slice(at, at + 2);
      if (!BATCH.has(this.#text.slice(start, start + 3))) {
        kept.push(start, end);
      }
    }
    this.#bounds = kept;
  }

  /** Segments behind the first that begin another message, frame or batch. */
  #countBoundaries(header: string): number {
    let count = 0;
    for (let position = 1; position < this.count; position += 1) {
      const start = this.#bounds[2 * position] ?? 0;
      const name = this.#text.slice(start, start + 3);
      if (this.#text.startsWith(header, start) || this.#text[start] === '\v' || BATCH.has(name)) {
        count += 1;
      }
    }
    return count;
  }
}

/** Offsets of the message inside byte order mark, MLLP frame and blank lines. */
export function withoutFrame(text: string): [from: number, to: number] {
  let from = 0;
  let to = text.length;
  while (from < to && '\uFEFF\v\r\n'.includes(text.charAt(from))) {
    from += 1;
  }
  while (to > from && '\u001C\r\n'.includes(text.charAt(to - 1))) {
    to -= 1;
  }
  return [from, to];
}

/** Offset of the first segment behind FHS and BHS, the headers of a batch. */
export function withoutEnvelope(text: string, from: number, to: number): number {
  let start = from;
  while (ENVELOPE.test(text.slice(start, start + 3))) {
    while (start < to && !'\r\n'.includes(text.charAt(start))) {
      start += 1;
    }
    while (start < to && '\r\n'.includes(text.charAt(start))) {
      start += 1;
    }
  }
  return start;
}
