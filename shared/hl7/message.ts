import { type AckCode, type AckOptions, ackSegments, isAckCode } from './ack.ts';
import { Hl7Context } from './context.ts';
import { encode } from './escape.ts';
import { Hl7Error } from './hl7-error.ts';
import { normalise } from './normalise.ts';
import { parsePath, valuesAt } from './path.ts';
import type { Hl7Segment } from './segment.ts';
import { SegmentIndex } from './segment-index.ts';
import { SegmentList } from './segment-list.ts';
import type { StandardParser } from './standard.ts';

export interface Hl7ParseOptions {
  /** Makes `standard` work; called on its first use only, so the library can be loaded then. */
  standard?: StandardParser;
}

/**
 * An HL7 v2 message: an index over the received text. Segments are split when a Bot opens them; a path is read
 * straight from the text. Accessors that `@medplum/core` has too keep its names and index conventions and give
 * values as they are written; `get`, `getAll` and `set` speak decoded text.
 */
export class Hl7Message {
  readonly context: Hl7Context;
  #segments: SegmentList;
  #standardParser: StandardParser | undefined;
  #standard: ReturnType<StandardParser> | undefined;

  constructor(segments: readonly (Hl7Segment | string)[], context: Hl7Context = new Hl7Context()) {
    this.context = context;
    this.#segments = new SegmentList(segments, context);
  }

  /** Throws Hl7Error unless the text is exactly one HL7 v2 message; see `SegmentIndex` for what may surround it. */
  static parse(text: string, options: Hl7ParseOptions = {}): Hl7Message {
    const index = new SegmentIndex(text);
    const context = Hl7Context.fromHeader(index.textAt(0));
    const message = new Hl7Message([], context);
    message.#segments = new SegmentList([], context, index);
    message.#standardParser = options.standard;
    return message;
  }

  /** The message as `hl7-standard` parses it, made from the present text on first use, then independent of it. */
  get standard(): ReturnType<StandardParser> {
    if (this.#standardParser === undefined) {
      throw new Hl7Error('This message was parsed without hl7-standard');
    }
    this.#standard ??= this.#standardParser(normalise(this.toString()));
    return this.#standard;
  }

  get header(): Hl7Segment {
    const header = this.getSegment(0);
    if (header === undefined) {
      throw new Hl7Error('The message has no segments');
    }
    return header;
  }

  /** All segments, opened. It is the live list: what is pushed to it belongs to the message. */
  get segments(): Hl7Segment[] {
    return this.#segments.openAll();
  }

  /** The segment at a position (from 0), or the first of a name. */
  getSegment(index: number | string): Hl7Segment | undefined {
    return this.#segments.open(
      typeof index === 'number' ? index : (this.#segments.positionsOf(index)[0] ?? -1),
    );
  }

  getAllSegments(name: string): Hl7Segment[] {
    return this.#segments.positionsOf(name).flatMap((position) => this.#segments.open(position) ?? []);
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
    if (typeof path === 'number') {
      return this.getSegment(path);
    }
    const parsed = parsePath(path);
    const position = this.#segments.positionsOf(parsed.segment)[(parsed.occurrence ?? 1) - 1] ?? -1;
    if (parsed.field === undefined) {
      return this.#segments.open(position);
    }
    return valuesAt(
      this.#segments.textAt(position),
      { ...parsed, repetition: parsed.repetition ?? 1 },
      this.context,
    )[0];
  }

  /**
   * Every value at a path, in order: all segments of the name and all repetitions, unless the path names one.
   * Places without a value are left out. Without a field: the segments. Throws Hl7Error on no path.
   */
  getAll(path: `${string}.${string}` | `${string}-${string}`): string[];
  getAll(name: string): Hl7Segment[] | string[];
  getAll(path: string): Hl7Segment[] | string[] {
    const parsed = parsePath(path);
    const all = this.#segments.positionsOf(parsed.segment);
    const positions =
      parsed.occurrence === undefined ? all : all.slice(parsed.occurrence - 1, parsed.occurrence);
    if (parsed.field === undefined) {
      return positions.flatMap((position) => this.#segments.open(position) ?? []);
    }
    return positions.flatMap((position) => valuesAt(this.#segments.textAt(position), parsed, this.context));
  }

  /**
   * Writes plain text at a path with a field, escaped; fields, repetitions and components before it are added.
   * False when the segment is not there and for MSH-1 and MSH-2. Throws Hl7Error on no path.
   */
  set(path: string, value: string): boolean {
    const { segment: name, occurrence, field, repetition = 1, component, subcomponent } = parsePath(path);
    const segment = this.#segments.open(this.#segments.positionsOf(name)[(occurrence ?? 1) - 1] ?? -1);
    if (segment === undefined || field === undefined) {
      return false;
    }
    const written = encode(value, this.context);
    if (segment.getField(field) === undefined) {
      segment.setField(field, '');
    }
    if (
      !segment.setComponent(field, component ?? 1, written, subcomponent && subcomponent - 1, repetition - 1)
    ) {
      return false;
    }
    if (component === undefined) {
      segment.getField(field)?.components[repetition - 1]?.splice(1);
    }
    return true;
  }

  /**
   * Replaces the segment at a position or the first of a name; a position behind the end appends. MSH stays the
   * first segment and the only one: what would break that, or a name that is not there, answers false.
   */
  setSegment(index: number | string, segment: Hl7Segment): boolean {
    const position = typeof index === 'number' ? index : (this.#segments.positionsOf(index)[0] ?? -1);
    if (position < 0 || (segment.name === 'MSH') !== (position === 0)) {
      return false;
    }
    this.#segments.replace(position, segment);
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
    return this.#segments.texts().join(this.context.segmentSeparator);
  }

  /** Inside a JSON value a message is its text. */
  toJSON(): string {
    return this.toString();
  }
}
