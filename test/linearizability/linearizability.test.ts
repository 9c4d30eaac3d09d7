import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import fc from '../setup/fast-check.ts';
import { isLong } from '../setup/long.ts';
import { administrators } from './administrators.ts';
import { prepareBots } from './bots.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type Ground, openGround } from './ground.ts';
import { invitations } from './invitations.ts';
import type { Kind, Outcome } from './kind.ts';
import { plans, play } from './play.ts';
import { records } from './records.ts';
import { explain, linearise } from './search.ts';

/** `HISTORIES=200` records as many of each kind. */
const { HISTORIES } = process.env;
const clients = 3;
/** Who left before the answer, or whose function died, goes on at another instance. */
const spare = 2;

let fleet: Fleet;
let ground: Ground;
beforeAll(async () => {
  // Nobody waits before a repeat: how long is drawn by lot, and this is the shortest.
  jest.spyOn(Math, 'random').mockReturnValue(0);
  fleet = await startFleet(clients + spare);
  ground = await openGround(fleet.stack);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await fleet.stop();
});

/** @param make answers the objects of a history */
async function record<State, Input, Output extends Outcome>(
  name: string,
  usual: number,
  make: () => Kind<State, Input, Output> | Promise<Kind<State, Input, Output>>,
): Promise<void> {
  const numRuns = Number(HISTORIES ?? (isLong ? 60 * usual : usual));
  const told = { histories: 0, operations: 0, open: 0 };
  const recording = fc.asyncProperty(plans(clients, 5), async (plan) => {
    const kind = await make();
    const history = await play(fleet, kind, plan);
    const verdict = linearise(kind.model, history);
    told.histories += 1;
    told.operations += history.length;
    told.open += history.filter(({ output }) => output === undefined).length;
    if (!verdict.isLinearizable) throw new Error(explain(history, verdict));
  });
  try {
    await fc.assert(recording, { numRuns, endOnFailure: true });
  } finally {
    const { histories, operations, open } = told;
    process.stdout.write(
      `${name}: ${operations} operations in ${histories} histories, ${open} not answered\n`,
    );
  }
}

describe('operations that overlap, of functions that die and callers who leave, take effect one after the other', () => {
  test('invitations of one person', () => record('invitations', 10, () => invitations(ground)), 3_600_000);
  test(
    'administrators of a Project',
    () => record('administrators', 6, () => administrators(ground)),
    3_600_000,
  );
  test('a record', () => record('a record', 8, () => records(ground)), 3_600_000);
  test('the code of Bots', async () => record('Bots', 5, await prepareBots(ground)), 3_600_000);
});
