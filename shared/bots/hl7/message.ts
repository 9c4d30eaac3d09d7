import type HL7 from 'hl7-standard';
import { type AckCode, type AckOptions, ackSegments, isAckCode } from './ack.ts';
import { Hl7Segment } from './segment.ts';
import { encode, Hl7Context, Hl7Error, type Hl7Path, parsePath, piece, valuesAt } from './text.ts';

const BATCH = new Set(['FHS', 'BHS', 'BTS', 'FTS']);

/**
 * The segments of a received text, each exactly as received. Skips a byte order mark, MLLP framing (0x0B … 0x1C 0x0D),
 * blank lines and the envelope of a batch (HL7 v2.5.1 section 2.10.3); a segment ends with CR, LF or CRLF. Throws
 * Hl7Error unless the text holds exactly one message.
 */
export function segmentsIn(text: string): string[] {
  const lines = withoutFrame(text).replaceAll('\n', '\r').split('\r');
  const all = lines.filter((line) => line.trim() !== '');
  const isEnvelope = (line: string) => BATCH.has(line.slice(0, 3));
  const isBatch = /^[FB]HS/.test(all[0] ?? '');
  const segments = isBatch ? all.filter((line) => !isEnvelope(line)) : all;
  const header = segments[0]?.slice(0, 4) ?? '';
  if (!header.startsWith('MSH')) {
    throw new Hl7Error(
      isBatch ? 'The batch (FHS, BHS) holds no message' : 'Not an HL7 v2 message: it must start with MSH',
    );
  }
  const begins = (line: string) => line.startsWith(header) || line.startsWith('\v') || isEnvelope(line);
  const messages = segments.filter((line, position) => position === 0 || begins(line)).length;
  if (messages > 1) {
    throw new Hl7Error(
      isBatch
        ? `The batch (FHS, BHS) holds ${messages} messages: send them one by one`
        : 'More than one HL7 v2 message: send one message per call',
    );
  }
  return segments;
}

/** A text without byte order mark, MLLP frame and blank lines around it. */
function withoutFrame(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && '\uFEFF\v\r\n'.includes(text.charAt(from))) from += 1;
  while (to > from && '\u001C\r\n'.includes(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** Parses a message with the library `hl7-standard`; whoever parses a message passes one in. */
export type StandardParser = (text: string) => HL7;

/**
 * An HL7 v2 message: the segments of the received text, which are split when a Bot opens them; a path is read
 * straight from the text. Accessors that `@medplum/core` has too keep its names and index conventions and give
 * values as they are written; `get`, `getAll` and `set` speak decoded text.
 */
export class Hl7Message {
  readonly context: Hl7Context;
  /** As text until a Bot opens, sets or builds one. */
  #segments: (Hl7Segment | string)[];
  #positions: Map<string, number[]> | undefined;
  /** True once the list itself was handed out: its holder may push to it, so positions are looked up anew. */
  #isShared = false;
  #standardParser: StandardParser | undefined;
  #standard: ReturnType<StandardParser> | undefined;

  constructor(segments: readonly (Hl7Segment | string)[], context: Hl7Context = new Hl7Context()) {
    this.context = context;
    this.#segments = [...segments];
  }

  /**
   * Throws Hl7Error unless the text is exactly one HL7 v2 message; see `segmentsIn` for what may surround it.
   * `standard` makes the view of that name work; it is called on first use only, so the library can be loaded then.
   */
  static parse(text: string, options: { standard?: StandardParser } = {}): Hl7Message {
    const segments = segmentsIn(text);
    const message = new Hl7Message(segments, Hl7Context.fromHeader(segments[0] ?? ''));
    message.#standardParser = options.standard;
    return message;
  }

  /** The message as `hl7-standard` parses it, made from the present text on first use, then independent of it. */
  get standard(): ReturnType<StandardParser> {
    if (this.#standardParser === undefined) {
      throw new Hl7Error('This message was parsed without hl7-standard');
    }
    this.#standard ??= this.#standardParser(this.toString());
    return this.#standard;
  }

  get header(): Hl7Segment {
    const header = this.getSegment(0);
    if (header === undefined) throw new Hl7Error('The message has no segments');
    return header;
  }

  /** All segments, opened. It is the live list: what is pushed to it belongs to the message. */
  get segments(): Hl7Segment[] {
    for (const position of this.#segments.keys()) this.#open(position);
    this.#isShared = true;
    return this.#segments as Hl7Segment[];
  }

  /** The segment at a position (from 0), or the first of a name. */
  getSegment(index: number | string): Hl7Segment | undefined {
    return this.#open(typeof index === 'number' ? index : this.#positionsOf(index)[0]);
  }

  getAllSegments(name: string): Hl7Segment[] {
    return this.#positionsOf(name).flatMap((position) => this.#open(position) ?? []);
  }

  /**
   * The value at a path: `PID.5.1`, `PID-5-1`, `PID.3[2].1`, `OBX[3].5`, `PID.3.4.2`. Segment occurrences and
   * repetitions count from 1 and default to the first. Undefined when the message has no value there; the HL7
   * null is given as it is written, `""`. Decoded, except that an element with components or subcomponents inside
   * is given as it is written. Without a field (`PID`, `OBX[2]`, 0) it is the segment. Throws Hl7Error on no path.
   */
  get(index: number): Hl7Segment | undefined;
  get(path: `${string}.${string}` | `${string}-${string}`): string | undefined;
  get(path: string): Hl7Segment | string | undefined;
  get(path: number | string): Hl7Segment | string | undefined {
    if (typeof path === 'number') return this.getSegment(path);
    const { occurrence = 1, repetition = 1, ...parsed } = parsePath(path);
    return this.#all({ ...parsed, occurrence, repetition })[0];
  }

  /**
   * Every value at a path, in order: all segments of the name and all repetitions, unless the path names one.
   * Places without a value are left out. Without a field: the segments. Throws Hl7Error on no path.
   */
  getAll(path: `${string}.${string}` | `${string}-${string}`): string[];
  getAll(name: string): Hl7Segment[] | string[];
  getAll(path: string): Hl7Segment[] | string[] {
    return this.#all(parsePath(path));
  }

  #all(path: Hl7Path): Hl7Segment[] | string[] {
    const { segment, occurrence, field } = path;
    const all = this.#positionsOf(segment);
    const positions = occurrence === undefined ? all : all.slice(occurrence - 1, occurrence);
    return field === undefined
      ? positions.flatMap((position) => this.#open(position) ?? [])
      : positions.flatMap((position) => valuesAt(`${this.#segments[position]}`, path, this.context));
  }

  /**
   * Writes plain text at a path with a field, escaped; fields, repetitions and components before it are added.
   * False when the segment is not there and for MSH-1 and MSH-2. Throws Hl7Error on no path.
   */
  set(path: string, value: string): boolean {
    const { segment: name, occurrence = 1, field, repetition = 1, component, subcomponent } = parsePath(path);
    const segment = this.#open(this.#positionsOf(name)[occurrence - 1]);
    if (segment === undefined || field === undefined) return false;
    const written = encode(value, this.context);
    if (segment.getField(field) === undefined) segment.setField(field, '');
    if (
      !segment.setComponent(field, component ?? 1, written, subcomponent && subcomponent - 1, repetition - 1)
    ) {
      return false;
    }
    if (component === undefined) segment.getField(field)?.components[repetition - 1]?.splice(1);
    return true;
  }

  /**
   * Replaces the segment at a position or the first of a name; a position behind the end appends. MSH stays the
   * first segment and the only one: what would break that, or a name that is not there, answers false.
   */
  setSegment(index: number | string, segment: Hl7Segment): boolean {
    const position = typeof index === 'number' ? index : (this.#positionsOf(index)[0] ?? -1);
    if (position < 0 || (segment.name === 'MSH') !== (position === 0)) return false;
    this.#segments[Math.min(position, this.#segments.length)] = segment;
    this.#positions = undefined;
    return true;
  }

  /** MSA-1 of an acknowledgement, when it is a known code. */
  getAckType(): AckCode | undefined {
    const code = this.getSegment('MSA')?.getComponent(1, 1).toUpperCase();
    return isAckCode(code) ? code : undefined;
  }

  /** The acknowledgement to this message, `AA` unless said otherwise; written with this message's separators. */
  buildAck(options: AckOptions = {}): Hl7Message {
    const ack = new Hl7Message(ackSegments(this.header, options), this.context);
    ack.#standardParser = this.#standardParser;
    return ack;
  }

  /** The segments joined by CR, without one at the end; those that nobody opened exactly as they were received. */
  toString(): string {
    return this.#segments.join(this.context.segmentSeparator);
  }

  /** Inside a JSON value a message is its text. */
  toJSON(): string {
    return this.toString();
  }

  #open(position = -1): Hl7Segment | undefined {
    const segment = this.#segments[position];
    if (typeof segment !== 'string') return segment;
    const opened = Hl7Segment.parse(segment, this.context);
    this.#segments[position] = opened;
    return opened;
  }

  #positionsOf(name: string): readonly number[] {
    if (this.#positions === undefined || this.#isShared) {
      this.#positions = new Map();
      for (const [position, segment] of this.#segments.entries()) {
        const known =
          typeof segment === 'string' ? (piece(segment, this.context.fieldSeparator, 0) ?? '') : segment.name;
        const positions = this.#positions.get(known);
        if (positions === undefined) this.#positions.set(known, [position]);
        else positions.push(position);
      }
    }
    return this.#positions.get(name) ?? [];
  }
}

/** The message that a text is; undefined when it is none. */
export function messageOf(text: string): Hl7Message | undefined {
  try {
    return Hl7Message.parse(text);
  } catch (error) {
    if (error instanceof Hl7Error) return undefined;
    throw error;
  }
}
