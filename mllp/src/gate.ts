/** A number of places; whoever finds none waits in line. */
export class Gate {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** @returns what gives the place back. @throws the signal's reason when it ends the waiting */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let isHeld = true;
    return () => {
      if (isHeld) this.#leave();
      isHeld = false;
    };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => {
      this.#line.splice(this.#line.indexOf(resolve), 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    this.#line.push(resolve);
    await promise.finally(() => signal.removeEventListener('abort', stop));
  }

  /** The place goes to the first in line, or becomes free. */
  #leave(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#free += 1;
  }
}
