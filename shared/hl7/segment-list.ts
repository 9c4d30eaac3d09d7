import type { Hl7Context } from './context.ts';
import { piece } from './piece.ts';
import { Hl7Segment } from './segment.ts';
import type { SegmentIndex } from './segment-index.ts';

/**
 * The segments of one message: an index over the received text, and beside it those that a Bot opened, set or
 * built, which win over the text. Positions count from 0.
 */
export class SegmentList {
  readonly #context: Hl7Context;
  readonly #opened: (Hl7Segment | undefined)[];
  readonly #received: SegmentIndex | undefined;
  #positions: Map<string, number[]> | undefined;
  /** True once the list itself was handed out: its holder may push to it, so positions are looked up anew. */
  #isShared = false;

  constructor(segments: readonly (Hl7Segment | string)[], context: Hl7Context, received?: SegmentIndex) {
    this.#context = context;
    this.#received = received;
    this.#opened = segments.map((segment) =>
      typeof segment === 'string' ? Hl7Segment.parse(segment, context) : segment,
    );
    this.#opened.length = received?.count ?? segments.length;
  }

  open(position: number): Hl7Segment | undefined {
    if (position < 0 || position >= this.#opened.length) {
      return undefined;
    }
    this.#opened[position] ??= Hl7Segment.parse(this.textAt(position), this.#context);
    return this.#opened[position];
  }

  /** The live list, every segment opened. */
  openAll(): Hl7Segment[] {
    for (let position = 0; position < this.#opened.length; position += 1) {
      this.open(position);
    }
    this.#isShared = true;
    return this.#opened as Hl7Segment[];
  }

  /** The text of a segment, as received if nobody opened it; the empty string where there is none. */
  textAt(position: number): string {
    const opened = this.#opened[position];
    if (opened !== undefined) {
      return opened.toString();
    }
    return position >= 0 && position < this.#opened.length ? (this.#received?.textAt(position) ?? '') : '';
  }

  texts(): string[] {
    return Array.from(this.#opened, (_, position) => this.textAt(position));
  }

  /** A position behind the end appends. */
  replace(position: number, segment: Hl7Segment): void {
    this.#opened[Math.min(position, this.#opened.length)] = segment;
    this.#positions = undefined;
  }

  positionsOf(name: string): readonly number[] {
    if (this.#positions === undefined || this.#isShared) {
      this.#positions = new Map();
      for (let position = 0; position < this.#opened.length; position += 1) {
        const known = this.#nameAt(position);
        const positions = this.#positions.get(known);
        if (positions === undefined) {
          this.#positions.set(known, [position]);
        } else {
          positions.push(position);
        }
      }
    }
    return this.#positions.get(name) ?? [];
  }

  #nameAt(position: number): string {
    const opened = this.#opened[position];
    return opened?.name ?? piece(this.textAt(position), this.#context.fieldSeparator, 0) ?? '';
  }
}
