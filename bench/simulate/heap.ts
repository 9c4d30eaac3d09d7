/** Values by when they are due, the earliest first. */
export class Heap<Value> {
  readonly #entries: { at: number; value: Value }[] = [];

  get size(): number {
    return this.#entries.length;
  }

  add(at: number, value: Value): void {
    const entries = this.#entries;
    let place = entries.push({ at, value }) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (this.#atOf(above) <= at) break;
      this.#swap(place, above);
      place = above;
    }
  }

  /** Takes the earliest if it is due by then. */
  takeUntil(at: number): { at: number; value: Value } | undefined {
    const [first] = this.#entries;
    if (!first || first.at > at) return undefined;
    const last = this.#entries.pop();
    if (last && this.#entries.length > 0) {
      this.#entries[0] = last;
      this.#sink();
    }
    return first;
  }

  #sink(): void {
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      const least = this.#atOf(right) < this.#atOf(left) ? right : left;
      if (this.#atOf(least) >= this.#atOf(place)) return;
      this.#swap(place, least);
      place = least;
    }
  }

  #atOf(place: number): number {
    return this.#entries[place]?.at ?? Number.POSITIVE_INFINITY;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#entries[a], this.#entries[b]];
    if (!one || !other) return;
    this.#entries[a] = other;
    this.#entries[b] = one;
  }
}
