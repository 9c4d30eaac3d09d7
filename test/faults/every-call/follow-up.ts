import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { dispatchedPurposes, type Purpose } from '../../../shared/carry/work/queue.ts';
import { coreServices } from '../../../shared/composition/core-services.ts';
import { openQueues } from '../../../shared/composition/queues.ts';
import { dispatch } from '../../../shared/records/dispatch/dispatch.ts';
import { knownSubscriptions } from '../../../shared/records/subscriptions/listed.ts';
import { batchOf } from './batch.ts';
import type { StillStack } from './still-stack.ts';
import type { Said } from './trial.ts';
import { messagesOf } from './ways.ts';
import { changesBetween, worldOf } from './world.ts';

type Written = Parameters<typeof dispatch>[1][number];

/** The dispatcher as its handler makes it, but for the pause before records are given again. */
export function dispatcher(): (writes: readonly Written[]) => Promise<number | undefined> {
  const core = coreServices(process.env);
  const services = {
    ...core,
    queues: openQueues(process.env, dispatchedPurposes),
    subscriptions: knownSubscriptions(core, 0),
    knownAfterSeconds: 1,
    pause: async () => undefined,
  };
  return (writes) => dispatch(services, writes);
}

/** What `act` writes, as the stream tells of it. */
export async function writesOf(stack: StillStack, act: () => Promise<unknown>): Promise<Written[]> {
  const before = await worldOf(stack);
  await act();
  const changes = changesBetween(before, await worldOf(stack));
  return changes.flatMap(({ before, after }) => (after ? [{ before, after }] : []));
}

/** The messages of a purpose that follow what `act` writes, as its consumer gets them. */
export async function followUp(
  stack: StillStack,
  purpose: Purpose,
  act: () => Promise<unknown>,
): Promise<SQSEvent> {
  const writes = await writesOf(stack, act);
  return sentBy(stack, purpose, () => dispatcher()(writes));
}

/** The messages of a purpose that `act` sends itself. */
export async function sentBy(
  { ways }: StillStack,
  purpose: Purpose,
  act: () => Promise<unknown>,
): Promise<SQSEvent> {
  const { calls, result } = await ways.during(undefined, act);
  if (result.status === 'rejected') throw result.reason;
  const bodies = messagesOf(calls).flatMap(({ queue, body }) => (queue === purpose ? [body] : []));
  if (bodies.length === 0) throw new Error(`Nothing was sent to ${purpose}`);
  return batchOf(bodies);
}

/** What a consumer answers: the messages that it has not taken come again. */
export async function taken(answer: Promise<SQSBatchResponse>): Promise<Said> {
  const { batchItemFailures } = await answer;
  const left = batchItemFailures.length;
  return left === 0 ? { status: 200, text: '' } : { status: 503, text: `${left} come again`, isLater: true };
}

/** What an operator, or a schedule, sees of a function: whether it failed, and is to be called again. */
export async function carriedOut(call: () => Promise<unknown>): Promise<Said> {
  try {
    return { status: 200, text: JSON.stringify(await call()) ?? '' };
  } catch (error) {
    return { status: 503, text: error instanceof Error ? String(error.stack) : '', isLater: true };
  }
}
