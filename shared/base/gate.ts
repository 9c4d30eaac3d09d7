/**
 * A number of places. Whoever finds none waits in a line with others of the same owner, and the lines take turns: one
 * owner's crowd lets every other one through.
 */
export class Gate {
  readonly #places: number;
  readonly #mostOfOne: number;
  readonly #held = new Map<string, number>();
  readonly #lines = new Map<string, (() => void)[]>();
  #taken = 0;

  /** @param mostOfOne how many places one owner may hold; all when left out */
  constructor(places: number, mostOfOne = places) {
    this.#places = places;
    this.#mostOfOne = mostOfOne;
  }

  /** @returns what gives the place back. @throws the signal's reason when it ends the waiting */
  async enter({ owner = '', signal }: { owner?: string; signal?: AbortSignal } = {}): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#isFreeFor(owner)) this.#take(owner);
    else await this.#wait(owner, signal);
    let isHeld = true;
    return () => {
      if (isHeld) this.#leave(owner);
      isHeld = false;
    };
  }

  #isFreeFor(owner: string): boolean {
    return this.#taken < this.#places && (this.#held.get(owner) ?? 0) < this.#mostOfOne;
  }

  #take(owner: string): void {
    this.#taken += 1;
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
  }

  async #wait(owner: string, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const line = this.#lines.get(owner) ?? [];
    this.#lines.set(owner, line);
    line.push(resolve);
    const stop = () => {
      const at = line.indexOf(resolve);
      // It has been let in already.
      if (at < 0) return;
      line.splice(at, 1);
      if (line.length === 0) this.#lines.delete(owner);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', stop));
  }

  #leave(owner: string): void {
    this.#taken -= 1;
    const left = (this.#held.get(owner) ?? 1) - 1;
    if (left > 0) this.#held.set(owner, left);
    else this.#held.delete(owner);
    for (const [next, line] of this.#lines) {
      if (!this.#isFreeFor(next)) continue;
      // To the end: the other lines come first now.
      this.#lines.delete(next);
      const enter = line.shift();
      if (line.length > 0) this.#lines.set(next, line);
      this.#take(next);
      enter?.();
      return;
    }
  }
}
