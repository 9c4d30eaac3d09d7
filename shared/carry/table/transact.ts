import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { Refusal } from '../../base/refusal.ts';
import { errorCode, errorName, fieldsOf } from '../../base/values.ts';
import type { Item } from './item.ts';
import type { Key } from './keys.ts';

/** Waits before attempt `attempt` (1, 2, …): full jitter below 20 ms doubling to 1 s. */
export async function pauseMs(attempt: number): Promise<void> {
  await setTimeout(Math.random() * Math.min(1000, 10 * 2 ** attempt));
}

interface Condition {
  /** Names the action when its condition fails. */
  name: string;
  if?: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
}

/** One action of a transaction. `if` is a ConditionExpression (ASCII only: local engines abort on more). */
export type Action = Condition &
  ({ put: Item } | { update: Key; set: string } | { remove: Key } | { check: Key; if: string });

/** The item that an action is about: a transaction takes each once. */
export function keyOf(action: Action): Key {
  if ('put' in action) return action.put;
  return 'update' in action ? action.update : 'remove' in action ? action.remove : action.check;
}

/** The conditions of these actions did not hold: nothing was written. */
export class ConditionFailed extends Error {
  readonly failed: ReadonlySet<string>;

  constructor(failed: Iterable<string>) {
    super('A condition of the transaction did not hold');
    this.name = 'ConditionFailed';
    this.failed = new Set(failed);
  }
}

/**
 * For `catch`: what becomes of a transaction whose conditions did not hold; any other error is thrown on.
 * @param then given the names of the failed actions; may throw
 */
export function whenConditionFailed<T>(then: (failed: ReadonlySet<string>) => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof ConditionFailed) return then(error.failed);
    throw error;
  };
}

/** The same where something else is thrown in its place. */
export function orThrow(make: (failed: ReadonlySet<string>) => Error): (error: unknown) => never {
  return whenConditionFailed((failed) => {
    throw make(failed);
  });
}

/** No answer came: all of it was written, or nothing. */
export class OutcomeUnknown extends Error {
  /** The name of the error that came instead, for the log. */
  override readonly cause: string;

  constructor(cause: string) {
    super('The outcome of the transaction is unknown');
    this.name = 'OutcomeUnknown';
    this.cause = cause;
  }
}

const attempts = 10;

/**
 * Writes all or nothing. One ClientRequestToken covers the SDK's own repeats, so an attempt of
 * unknown outcome is not applied twice. Cancelled for conflicts or throttling only: tried again.
 * @throws {ConditionFailed} when a condition did not hold
 * @throws {OutcomeUnknown} when the SDK's repeats got no answer either
 */
export async function transact(
  client: DynamoDBDocumentClient,
  table: string,
  actions: readonly Action[],
): Promise<void> {
  const TransactItems = actions.map((action) => toItem(table, action));
  for (let attempt = 1; ; attempt++) {
    try {
      await client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken: randomUUID() }));
      return;
    } catch (error) {
      const reasons = cancellationReasons(error);
      const failed = actions.filter((_, i) => reasons[i] === 'ConditionalCheckFailed');
      if (failed.length > 0) throw new ConditionFailed(failed.map((action) => action.name));
      if (isUnanswered(error)) throw new OutcomeUnknown(errorName(error));
      if (attempt === attempts || !isTransientCancellation(error)) throw error;
      await pauseMs(attempt);
    }
  }
}

/** One write alone that met somebody's transaction at its item: it was not done, and is tried again as those are. */
export async function pastConflicts<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === attempts || errorName(error) !== 'TransactionConflictException') throw error;
      await pauseMs(attempt);
    }
  }
}

/** Nothing was written, for conflicts or throttling only: worth a repeat. */
export function isTransientCancellation(error: unknown): boolean {
  const reasons = cancellationReasons(error).filter((code) => code !== 'None');
  return reasons.length > 0 && reasons.every((code) => transient.has(code));
}

/** The connection broke, timed out, or the service failed inside: after the SDK's repeats, for good. */
export function isUnanswered(error: unknown): boolean {
  const isServers = fieldsOf(error).$fault === 'server';
  return isServers || errorName(error) === 'TimeoutError' || broken.has(errorCode(error) ?? '');
}

/** Codes of Node for connections, not for files. */
const broken = new Set([
  ...['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EAI_AGAIN', 'EADDRNOTAVAIL'],
]);

const transient = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'TransactionInProgress',
]);

function cancellationReasons(error: unknown): string[] {
  const { CancellationReasons: reasons } = fieldsOf(error);
  return Array.isArray(reasons) ? reasons.map((reason) => String(fieldsOf(reason).Code ?? 'None')) : [];
}

function toItem(TableName: string, action: Action) {
  const condition = {
    ...(action.if ? { ConditionExpression: action.if } : {}),
    ...(action.names ? { ExpressionAttributeNames: action.names } : {}),
    ...(action.values ? { ExpressionAttributeValues: action.values } : {}),
    TableName,
  };
  if ('put' in action) return { Put: { Item: action.put, ...condition } };
  if ('update' in action)
    return { Update: { Key: action.update, UpdateExpression: action.set, ...condition } };
  if ('remove' in action) return { Delete: { Key: action.remove, ...condition } };
  return { ConditionCheck: { Key: action.check, ...condition, ConditionExpression: action.if } };
}

const mostAttempts = 12;

/**
 * Gathers, decides and writes, and does all of it again when a condition of the transaction did not hold:
 * others may write between our read and our transaction.
 * @param attempt ends with the one transaction; the last one's result is answered
 * @param refuse throws for a condition that no repeat mends; it is given the names of the failed actions
 * @throws {Refusal} unavailable when others kept writing: nothing was written, so that to repeat is harmless
 */
export async function untilWritten<T>(
  attempt: () => Promise<T>,
  refuse: (failed: ReadonlySet<string>) => void = () => undefined,
): Promise<T> {
  for (let n = 1; n <= mostAttempts; n++) {
    if (n > 1) await pauseMs(n);
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      refuse(error.failed);
    }
  }
  throw new Refusal('unavailable', 'Others keep changing the same: try again shortly', {
    retryAfterSeconds: 1,
  });
}
