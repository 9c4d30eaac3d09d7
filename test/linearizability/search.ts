/** What somebody did, between two instants of one clock that ticks at each call and at each answer. */
export interface Operation<Input = unknown, Output = unknown> {
  client: number;
  input: Input;
  /** Undefined when nobody was told: it takes effect at any time after its call, or never. */
  output: Output | undefined;
  calledAt: number;
  /** Infinity without an output. */
  returnedAt: number;
}

/** What an object does when one thing happens after the other. States are compared as JSON. */
export interface Model<State, Input, Output> {
  initial: State;
  /**
   * The states that an operation may leave which takes effect in this one.
   * @param output undefined when it is not known
   * @returns none when that output is wrong here
   */
  step(state: State, input: Input, output: Output | undefined): State[];
}

export interface Verdict<State, Input, Output> {
  isLinearizable: boolean;
  /** The longest order that explains the outputs, each with the state that it leaves. */
  order: { operation: Operation<Input, Output>; state: State }[];
  /** How many states were looked at. */
  looked: number;
}

/**
 * Looks for an order of the operations, each at one instant between its call and its answer, in which the model
 * answers what was answered (Herlihy and Wing 1990). The search is Wing's and Gong's (1993): what may come next is what
 * was called before anything that is left was answered. It never goes twice to the same state with the same operations
 * done (Lowe 2017).
 */
export function linearise<State, Input, Output>(
  model: Model<State, Input, Output>,
  history: readonly Operation<Input, Output>[],
): Verdict<State, Input, Output> {
  const operations = history.toSorted((a, b) => a.returnedAt - b.returnedAt || a.calledAt - b.calledAt);
  const seen = new Set<string>();
  const order: Verdict<State, Input, Output>['order'] = [];
  let longest: typeof order = [];

  function goOn(done: bigint, state: State): boolean {
    const isDone = (n: number) => (done >> BigInt(n)) & 1n;
    const first = operations.find((_, n) => !isDone(n));
    // What was never answered need not have happened.
    if (!first || first.returnedAt === Number.POSITIVE_INFINITY) return true;
    for (const [n, operation] of operations.entries()) {
      if (isDone(n) || operation.calledAt > first.returnedAt) continue;
      for (const next of model.step(state, operation.input, operation.output)) {
        const now = done | (1n << BigInt(n));
        const name = `${now} ${JSON.stringify(next)}`;
        if (seen.has(name)) continue;
        seen.add(name);
        order.push({ operation, state: next });
        if (order.length > longest.length) longest = [...order];
        if (goOn(now, next)) return true;
        order.pop();
      }
    }
    return false;
  }

  const isLinearizable = goOn(0n, model.initial);
  return { isLinearizable, order: isLinearizable ? order : longest, looked: seen.size };
}

/** The history as people read it: who did what from when to when, and how far an order explains it. */
export function explain<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  { order, isLinearizable }: Verdict<State, Input, Output>,
): string {
  const lines = history
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .map(({ client, input, output, calledAt, returnedAt }) => {
      const until = output === undefined ? '' : String(returnedAt);
      const at = `${String(calledAt).padStart(3)}-${until.padEnd(3)}`;
      return `${at} client ${client} ${JSON.stringify(input)} → ${JSON.stringify(output) ?? '?'}`;
    });
  const steps = order.map(({ operation, state }) => `${operation.calledAt}: ${JSON.stringify(state)}`);
  const title = isLinearizable ? 'In this order' : 'No order explains it; the longest that was found';
  return [...lines, '', title, ...steps].join('\n');
}
