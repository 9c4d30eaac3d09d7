import { Refusal } from '../../refusal.ts';
import type { Services } from '../../services.ts';
import { keys } from '../../table/keys.ts';

/** A run that nobody's run started, and all that follow from it, waiting or not. */
export interface RunTree {
  project: string;
  /** Id of that first run. */
  root: string;
}

type Store = Pick<Services, 'table' | 'now'>;

/** Longer than a tree can last: eight runs deep, each a quarter of an hour after six minutes of waiting. */
const keptSeconds = 86_400;

/**
 * Counts a run that a run starts, by one conditional write.
 * @returns which one it is of its tree, from 1
 * @throws {Refusal} too-costly
 */
export async function countStart(
  { table, now }: Store,
  { project, root }: RunTree,
  most: number,
): Promise<number> {
  const counted = await table.updateIf({
    Key: keys.runTree(project, root),
    UpdateExpression: 'SET #ttl = :ttl ADD started :one',
    ConditionExpression: 'attribute_not_exists(started) OR started < :most',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':ttl': Math.floor(now() / 1000) + keptSeconds,
      ':one': 1,
      ':most': most,
    },
    ReturnValues: 'UPDATED_NEW',
  });
  if (counted.held) return Number(counted.attributes.started);
  throw new Refusal('too-costly', `A run and all that follow from it may start ${most} runs`);
}

/** Takes back a start that did not come about. Never fails: at worst the tree has one run less. */
export async function discountStart(
  services: Pick<Services, 'table' | 'log'>,
  { project, root }: RunTree,
): Promise<void> {
  const input = {
    Key: keys.runTree(project, root),
    UpdateExpression: 'ADD started :less',
    ExpressionAttributeValues: { ':less': -1 },
  };
  await services.table
    .update(input)
    .catch((error: Error) => services.log.error('start not taken back', { error: error.name }));
}

/** Calls that one run may make, to the API and elsewhere. */
const mostCalls = 1_000;
/** So many of a tree's runs may make as many; those after them, `lateCalls`. */
const fullShares = 8;
const lateCalls = 100;

/**
 * How many calls a run may make. What a whole tree may follows from it, without a write for each: 14,600 with
 * the usual 64 runs. @param nth of those that its tree started; undefined for the first
 */
export function callsOf(nth: number | undefined): number {
  return nth === undefined || nth <= fullShares ? mostCalls : lateCalls;
}
