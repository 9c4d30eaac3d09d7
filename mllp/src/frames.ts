/** Of a content that is too long this much is kept: its MSH stands there. */
const headBytes = 16 * 1024;
const firstBytes = 4 * 1024;

/**
 * The content of one frame as it comes: all of it, or its head when it is too long to be kept. One buffer that doubles,
 * because a list of pieces would let a sender of single bytes hold a hundred times what it sends.
 */
class ContentBuffer {
  readonly #mostBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #kept = 0;
  /** Bytes that have come. */
  seen = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get kept(): Buffer {
    return this.#buffer.subarray(0, this.#kept);
  }

  append(piece: Buffer): void {
    this.seen += piece.length;
    if (this.seen > this.#mostBytes) this.#keepHead(piece);
    else this.#keep(piece);
  }

  /** @returns what was kept; afterwards empty */
  take(): Buffer {
    const { kept } = this;
    this.#buffer = Buffer.alloc(0);
    this.seen = 0;
    this.#kept = 0;
    return kept;
  }

  #keep(piece: Buffer): void {
    this.#grow(this.seen);
    piece.copy(this.#buffer, this.#kept);
    this.#kept = this.seen;
  }

  #keepHead(piece: Buffer): void {
    const wanted = Math.min(headBytes, this.#mostBytes);
    if (this.#kept > wanted) this.#buffer = Buffer.from(this.#buffer.subarray(0, wanted));
    const missing = piece.subarray(0, Math.max(0, wanted - this.#kept));
    this.#kept = Math.min(this.#kept, wanted);
    if (missing.length === 0) return;
    this.#buffer = Buffer.concat([this.kept, missing]);
    this.#kept = this.#buffer.length;
  }

  #grow(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const size = Math.min(this.#mostBytes, Math.max(bytes, firstBytes, this.#buffer.length * 2));
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#kept);
    this.#buffer = larger;
  }
}

/** MLLP release 1 (HL7 v2.5.1 appendix C, "Minimal Lower Layer Protocol"): VT, content, FS, CR. */
const startOfBlock = 0x0b;
const endOfBlock = 0x1c;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

export type Frame =
  | { kind: 'message'; bytes: Buffer }
  /** As soon as it is too long: the first bytes, enough to acknowledge it by. What follows of it is passed over. */
  | { kind: 'too-long'; head: Buffer; bytes: number }
  /** What follows cannot be understood any more. */
  | { kind: 'malformed'; reason: MalformedReason };

export type MalformedReason =
  | 'bytes outside a frame'
  | 'a frame inside a frame'
  | 'the end of a block without carriage return'
  | 'a frame without an end';

/** So many times the longest content is passed over of a frame that is too long. */
const passedOver = 4;

/**
 * Takes frames out of a stream that may be cut anywhere. Line ends between frames are skipped, since
 * senders add them; any other byte there, and a control character of the frame inside one, is malformed.
 * One pass over the bytes, whatever their cutting. No I/O.
 */
export class FrameDecoder {
  readonly #content: ContentBuffer;
  readonly #mostBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  #isInside = false;
  #isAtEndOfBlock = false;
  /** The rest of a frame whose beginning has been given as too long. */
  #isPassedOver = false;
  #broken: MalformedReason | undefined;

  /** @param mostBytes the longest content that is kept */
  constructor(mostBytes: number) {
    this.#content = new ContentBuffer(mostBytes);
    this.#mostBytes = mostBytes;
  }

  /** A frame has begun and not ended. */
  get isInside(): boolean {
    return this.#isInside;
  }

  /** Bytes that are held of the frame that has begun. */
  get heldBytes(): number {
    return this.#content.kept.length;
  }

  /** Bytes that have come of it. */
  get cameBytes(): number {
    return this.#content.seen;
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
      const bytes = this.#content.take();
      const wasPassedOver = this.#isPassedOver;
      this.#isPassedOver = false;
      return wasPassedOver ? undefined : { kind: 'message', bytes };
    }
    const found = this.#rest.indexOf(endOfBlock);
    const content = found < 0 ? this.#rest : this.#rest.subarray(0, found);
    if (content.includes(startOfBlock)) return { kind: 'malformed', reason: 'a frame inside a frame' };
    this.#isAtEndOfBlock = found >= 0;
    this.#skip(content.length + (found < 0 ? 0 : 1));
    return this.#keep(content);
  }

  #keep(content: Buffer): Frame | undefined {
    if (this.#isPassedOver) this.#content.seen += content.length;
    else this.#content.append(content);
    const { seen: bytes } = this.#content;
    if (bytes <= this.#mostBytes) return undefined;
    if (this.#isPassedOver) {
      const isEndless = bytes > passedOver * this.#mostBytes;
      return isEndless ? { kind: 'malformed', reason: 'a frame without an end' } : undefined;
    }
    this.#isPassedOver = true;
    const head = this.#content.take();
    this.#content.seen = bytes;
    return { kind: 'too-long', head, bytes };
  }

  #skip(bytes: number): void {
    this.#rest = this.#rest.subarray(bytes);
  }
}

/** One message as an MLLP frame; the last segment gets its CR when it has none (HL7 v2.5.1 section 2.5.2). */
export function encodeFrame(message: Buffer): Buffer {
  const end = message.at(-1) === carriageReturn ? [] : [carriageReturn];
  return Buffer.concat([Buffer.of(startOfBlock), message, Buffer.of(...end, endOfBlock, carriageReturn)]);
}

/** Whether a content would be taken for the bounds of frames. */
export function isFramable(content: Buffer): boolean {
  return !content.includes(startOfBlock) && !content.includes(endOfBlock);
}
