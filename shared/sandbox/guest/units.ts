const CHUNK = 8192;

/** Code points gathered into a string in chunks that fit the stack. */
export class Units {
  private readonly chunk = new Uint16Array(CHUNK + 2);
  private at = 0;
  private done = '';

  push(code: number): void {
    if (code > 0xffff) {
      this.chunk[this.at++] = 0xd800 + ((code - 0x10000) >> 10);
      this.chunk[this.at++] = 0xdc00 + ((code - 0x10000) & 0x3ff);
    } else {
      this.chunk[this.at++] = code;
    }
    if (this.at >= CHUNK) {
      this.flush();
    }
  }

  text(): string {
    this.flush();
    return this.done;
  }

  private flush(): void {
    this.done += String.fromCharCode(...this.chunk.subarray(0, this.at));
    this.at = 0;
  }
}
