import fc from '../setup/fast-check.ts';
import { type Fleet, type Mishap, mishaps } from './fleet.ts';
import type { Draw, Kind, Outcome } from './kind.ts';
import type { Operation } from './search.ts';

/** What several clients do at once, one thing after the other each, and in which order their calls go on. */
export interface Plan {
  clients: (Draw & { mishap: Mishap | undefined })[][];
  seed: number;
}

const number = fc.nat(1_000_000);
const mishap = fc.record({ call: fc.integer({ min: 1, max: 6 }), what: fc.constantFrom(...mishaps) });
const step = fc.record({
  ...{ what: number, which: number, how: number },
  mishap: fc.option(mishap, { freq: 3, nil: undefined }),
});

export function plans(clients: number, steps: number): fc.Arbitrary<Plan> {
  const client = fc.array(step, { minLength: steps - 1, maxLength: steps, size: 'max' });
  return fc.record({
    clients: fc.array(client, { minLength: clients, maxLength: clients, size: 'max' }),
    seed: fc.integer(),
  });
}

/** Records what the clients of a plan did, and what is read when they have ended. */
export async function play<State, Input, Output extends Outcome>(
  fleet: Fleet,
  kind: Kind<State, Input, Output>,
  { clients, seed }: Plan,
): Promise<Operation<Input, Output>[]> {
  const history: Operation<Input, Output>[] = [];
  let now = 0;

  async function operate(client: number, input: Input, mishap?: Mishap): Promise<void> {
    const request = await kind.request(input);
    const never = Number.POSITIVE_INFINITY;
    const operation: Operation<Input, Output> = {
      ...{ client, input, output: undefined, calledAt: ++now, returnedAt: never },
    };
    history.push(operation);
    const answer = await fleet.call(request, mishap);
    if (!answer || answer.status >= 500 || answer.status === 429 || isOpen(answer.json)) return;
    operation.output = kind.read(input, answer);
    if (operation.output !== undefined) operation.returnedAt = ++now;
  }

  fleet.begin(seed);
  await Promise.all(
    clients.map(async (steps, client) => {
      for (const { mishap, ...draw } of steps) {
        const input = await kind.choose(draw);
        if (input) await operate(client, input, mishap);
      }
    }),
  );
  await fleet.idle();
  for (const input of kind.last()) await operate(clients.length, input);
  return history;
}

/** The answer says itself that nobody knows what became of it. */
function isOpen(json: unknown): boolean {
  return /It may have been done|outcome-unknown/.test(JSON.stringify(json ?? ''));
}
