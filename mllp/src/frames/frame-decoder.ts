import { type Content, ContentBuffer } from './content-buffer.ts';

/** MLLP release 1 (HL7 v2.5.1 appendix C, "Minimal Lower Layer Protocol"): VT, content, FS, CR. */
export const startOfBlock = 0x0b;
export const endOfBlock = 0x1c;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

export type Frame =
  | { kind: 'message'; bytes: Buffer }
  /** Read to its end but not kept: the first bytes, enough to acknowledge it by. */
  | { kind: 'too-long'; head: Buffer; bytes: number }
  /** What follows cannot be understood any more. */
  | { kind: 'malformed'; reason: MalformedReason };

export type MalformedReason =
  | 'bytes outside a frame'
  | 'a frame inside a frame'
  | 'the end of a block without carriage return';

/**
 * Takes frames out of a stream that may be cut anywhere. Line ends between frames are skipped, since
 * senders add them; any other byte there, and a control character of the frame inside one, is malformed.
 * One pass over the bytes, whatever their cutting. No I/O.
 */
export class FrameDecoder {
  readonly #content: ContentBuffer;
  #rest: Buffer = Buffer.alloc(0);
  #isInside = false;
  #isAtEndOfBlock = false;
  #broken: MalformedReason | undefined;

  /** @param mostBytes the longest content that is kept */
  constructor(mostBytes: number) {
    this.#content = new ContentBuffer(mostBytes);
  }

  /** A frame has begun and not ended. */
  get isInside(): boolean {
    return this.#isInside;
  }

  /** Bytes of the frame that has begun. */
  get heldBytes(): number {
    return this.#content.length;
  }

  /** Adds what came. Call `next` until it has no more. */
  push(chunk: Buffer): void {
    if (this.#broken) return;
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
  }

  /** The next frame; undefined until more has come. After a malformed one it is always that one. */
  next(): Frame | undefined {
    if (this.#broken) return { kind: 'malformed', reason: this.#broken };
    while (this.#rest.length > 0) {
      const frame = this.#isInside ? this.#readInside() : this.#readOutside();
      if (frame?.kind === 'malformed') this.#broken = frame.reason;
      if (frame) return frame;
    }
    return undefined;
  }

  #readOutside(): Frame | undefined {
    const first = this.#rest.findIndex((byte) => byte !== carriageReturn && byte !== lineFeed);
    if (first >= 0 && this.#rest[first] !== startOfBlock) {
      return { kind: 'malformed', reason: 'bytes outside a frame' };
    }
    this.#isInside = first >= 0;
    this.#skip(first < 0 ? this.#rest.length : first + 1);
    return undefined;
  }

  #readInside(): Frame | undefined {
    if (this.#isAtEndOfBlock) {
      if (this.#rest[0] !== carriageReturn) {
        return { kind: 'malformed', reason: 'the end of a block without carriage return' };
      }
      this.#skip(1);
      this.#isInside = false;
      this.#isAtEndOfBlock = false;
      return frameOf(this.#content.take());
    }
    const found = this.#rest.indexOf(endOfBlock);
    const content = found < 0 ? this.#rest : this.#rest.subarray(0, found);
    if (content.includes(startOfBlock)) return { kind: 'malformed', reason: 'a frame inside a frame' };
    this.#content.append(content);
    this.#isAtEndOfBlock = found >= 0;
    this.#skip(content.length + (found < 0 ? 0 : 1));
    return undefined;
  }

  #skip(bytes: number): void {
    this.#rest = this.#rest.subarray(bytes);
  }
}

function frameOf({ kept, bytes }: Content): Frame {
  return kept.length === bytes ? { kind: 'message', bytes: kept } : { kind: 'too-long', head: kept, bytes };
}
