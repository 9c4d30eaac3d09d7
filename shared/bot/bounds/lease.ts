import { object, optional, set, string } from 'valibot';
import { Refusal } from '../../refusal.ts';
import { stored } from '../../schema/stored.ts';
import type { Services } from '../../services.ts';
import { type Key, keys } from '../../table/keys.ts';

/** A place among a Project's concurrent runs. It ends by itself: a crash leaks none. */
export interface Lease {
  project: string;
  entry: string;
}

type Store = Pick<Services, 'table' | 'now'>;

/** After the run's deadline, so that no run outlives its place. */
const graceMs = 5_000;

/**
 * Takes a place by one conditional write; when all are taken, those whose time is over are given up first.
 * @param limit undefined: as many as there is room for, and nothing is written
 * @throws {Refusal} throttled
 */
export async function takeLease(
  store: Store,
  project: string,
  limit: number | undefined,
  run: { id: string; deadlineAtMs: number },
): Promise<Lease | undefined> {
  if (limit === undefined) return undefined;
  const entry = entryOf(run.id, run.deadlineAtMs + graceMs);
  if (await holdEntry(store, keys.running(project), entry, limit)) return { project, entry };
  throw new Refusal('throttled', `${limit} Bots of this project are running: this run was not started`, {
    retryAfterSeconds: 1,
  });
}

/** Never fails: what is not given back ends by itself. */
export async function releaseLease(services: Services, lease: Lease | undefined): Promise<void> {
  if (lease) await leaveEntry(services, keys.running(lease.project), lease.entry);
}

/** Takes an entry out of the set `held` of an item. Never fails, like `releaseLease`. */
export async function leaveEntry(services: Services, key: Key, entry: string): Promise<void> {
  await remove(services, key, [entry]).catch((error: Error) =>
    services.log.error('lease not released', { error: error.name }),
  );
}

/** @param untilMs when it is given up at the latest */
export function entryOf(name: string, untilMs: number): string {
  return `${untilMs}#${name}`;
}

/**
 * Puts an entry into the set `held` of an item that holds as many as `limit`; when it is full, those whose
 * time is over are given up first.
 * @returns whether there was room
 */
export async function holdEntry(store: Store, key: Key, entry: string, limit: number): Promise<boolean> {
  if (await add(store, key, entry, limit)) return true;
  return (await giveUpExpired(store, key)) && (await add(store, key, entry, limit));
}

async function add({ table }: Store, key: Key, entry: string, limit: number): Promise<boolean> {
  const { held } = await table.updateIf({
    Key: key,
    UpdateExpression: 'ADD held :entry',
    ConditionExpression: 'attribute_not_exists(held) OR size(held) < :limit',
    ExpressionAttributeValues: { ':entry': new Set([entry]), ':limit': limit },
  });
  return held;
}

const read = stored('list of runs', object({ held: optional(set(string())) }));

async function giveUpExpired(store: Store, key: Key): Promise<boolean> {
  const held = read((await store.table.read([key])).get(key))?.held;
  const expired = [...(held ?? [])].filter((entry) => Number.parseInt(entry, 10) <= store.now());
  if (expired.length > 0) await remove(store, key, expired);
  return expired.length > 0;
}

/** Removing what is gone already changes nothing: two may do it at once. */
async function remove({ table }: Store, key: Key, entries: readonly string[]): Promise<void> {
  await table.update({
    Key: key,
    UpdateExpression: 'DELETE held :entries',
    ExpressionAttributeValues: { ':entries': new Set(entries) },
  });
}
