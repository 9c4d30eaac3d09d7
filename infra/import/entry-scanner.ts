/**
 * Cuts the elements of the array `entry` out of a JSON object that comes in chunks, so that a Bundle of any length
 * is read an entry at a time. No more of its syntax is checked than that needs: each element is parsed by whoever
 * gets it.
 */
export class EntryScanner {
  /** Texts of the top level that have come so far, such as `resourceType` and `type`. */
  readonly head = new Map<string, string>();
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #inEntries = false;
  /** The last string of the top level, and the one before a colon. */
  #text = '';
  #key: string | undefined;
  /** What has come of the element that is open. */
  #element: string | undefined;

  /** @returns the elements that end in this chunk, as JSON text */
  push(chunk: string): string[] {
    const elements: string[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const character = chunk.charAt(at);
      if (this.#inString) {
        this.#readString(character);
      } else if (character === '"') {
        this.#inString = true;
        if (this.#depth === 1) this.#text = '';
      } else if (character === '{' || character === '[') {
        if (this.#depth === 1) this.#inEntries = character === '[' && this.#key === 'entry';
        if (this.#depth === 2 && this.#inEntries) [this.#element, from] = ['', at];
        this.#depth += 1;
      } else if (character === '}' || character === ']') {
        this.#depth -= 1;
        if (this.#depth < 0) throw new SyntaxError('More brackets are closed than opened');
        if (this.#depth === 2 && this.#element !== undefined) {
          elements.push(this.#element + chunk.slice(from, at + 1));
          this.#element = undefined;
        }
      } else if (this.#depth === 1) {
        this.#readTop(character);
      }
    }
    if (this.#element !== undefined) this.#element += chunk.slice(from);
    return elements;
  }

  /** @throws {SyntaxError} when the object has not ended */
  end(): void {
    if (this.#depth > 0 || this.#inString) throw new SyntaxError('The JSON ends too early');
  }

  #readString(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '\\') this.#isEscaped = true;
    else if (character === '"') {
      this.#inString = false;
      if (this.#depth === 1 && this.#key !== undefined) this.head.set(this.#key, this.#text);
      return;
    }
    if (this.#depth === 1) this.#text += character;
  }

  #readTop(character: string): void {
    if (character === ':') this.#key = this.#text;
    if (character === ',') this.#key = undefined;
  }
}
