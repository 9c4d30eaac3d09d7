/** Environments of tenants: each is its Project's alone, in use or idle, until nobody has used it for a while. */
export class Environments {
  /** In use and idle, of all Projects. */
  count = 0;
  readonly #idleMs: number;
  /** Idle ones of each Project, the one that was used last at the end. */
  readonly #idle = new Map<number, { sinceMs: number; isOver: boolean }[]>();
  /** All that became idle, in that order. */
  readonly #inOrder: { project: number; one: { sinceMs: number; isOver: boolean } }[] = [];
  #ended = 0;

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /** Takes an idle one of the Project. @returns false when there is none */
  reuse(project: number): boolean {
    const one = this.#idle.get(project)?.pop();
    if (one) one.isOver = true;
    return one !== undefined;
  }

  /** A new one, in use. */
  make(): void {
    this.count += 1;
  }

  /** One of the Project is not in use any more. */
  free(project: number, sinceMs: number): void {
    const one = { sinceMs, isOver: false };
    const idle = this.#idle.get(project) ?? [];
    idle.push(one);
    this.#idle.set(project, idle);
    this.#inOrder.push({ project, one });
  }

  /** Ends those that have been idle for too long. */
  endIdle(nowMs: number): void {
    for (;;) {
      const next = this.#inOrder[this.#ended];
      if (!next || next.one.sinceMs + this.#idleMs > nowMs) return;
      this.#ended += 1;
      if (next.one.isOver) continue;
      // Those of a Project are taken from the end, so the oldest stands at the beginning.
      this.#idle.get(next.project)?.shift();
      this.count -= 1;
    }
  }
}
