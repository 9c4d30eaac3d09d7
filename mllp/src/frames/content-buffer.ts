/** Of a content that is too long this much is kept: its MSH stands there. */
const headBytes = 16 * 1024;
const firstBytes = 4 * 1024;

/** The content of a frame: all of it, or its head when it was too long to be kept. */
export interface Content {
  kept: Buffer;
  /** Of the whole content. */
  bytes: number;
}

/**
 * The content of one frame as it comes. One buffer that doubles, because a list of pieces would let a
 * sender of single bytes hold a hundred times what it sends.
 */
export class ContentBuffer {
  readonly #mostBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #kept = 0;
  #seen = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Bytes that are held. */
  get length(): number {
    return this.#kept;
  }

  append(piece: Buffer): void {
    this.#seen += piece.length;
    if (this.#seen > this.#mostBytes) this.#keepHead(piece);
    else this.#keep(piece);
  }

  /** Afterwards empty. */
  take(): Content {
    const content = { kept: this.#buffer.subarray(0, this.#kept), bytes: this.#seen };
    this.#buffer = Buffer.alloc(0);
    this.#kept = 0;
    this.#seen = 0;
    return content;
  }

  #keep(piece: Buffer): void {
    this.#grow(this.#seen);
    piece.copy(this.#buffer, this.#kept);
    this.#kept = this.#seen;
  }

  #keepHead(piece: Buffer): void {
    const wanted = Math.min(headBytes, this.#mostBytes);
    if (this.#kept > wanted) this.#buffer = Buffer.from(this.#buffer.subarray(0, wanted));
    const missing = piece.subarray(0, Math.max(0, wanted - this.#kept));
    this.#kept = Math.min(this.#kept, wanted);
    if (missing.length === 0) return;
    this.#buffer = Buffer.concat([this.#buffer.subarray(0, this.#kept), missing]);
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
