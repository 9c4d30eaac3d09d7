import { Refusal } from '../../refusal.ts';
import type { Services } from '../../services.ts';
import { keys } from '../../table/keys.ts';

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
  const entry = `${run.deadlineAtMs + graceMs}#${run.id}`;
  if (await add(store, project, entry, limit)) return { project, entry };
  if ((await giveUpExpired(store, project)) && (await add(store, project, entry, limit)))
    return { project, entry };
  throw new Refusal('throttled', `${limit} Bots of this project are running: this run was not started`, {
    retryAfterSeconds: 1,
  });
}

/** Never fails: what is not given back ends by itself. */
export async function releaseLease(services: Services, lease: Lease | undefined): Promise<void> {
  if (!lease) return;
  await remove(services, lease.project, [lease.entry]).catch((error: Error) =>
    services.log.error('lease not released', { error: error.name }),
  );
}

async function add({ table }: Store, project: string, entry: string, limit: number): Promise<boolean> {
  const { held } = await table.updateIf({
    Key: keys.running(project),
    UpdateExpression: 'ADD held :entry',
    ConditionExpression: 'attribute_not_exists(held) OR size(held) < :limit',
    ExpressionAttributeValues: { ':entry': new Set([entry]), ':limit': limit },
  });
  return held;
}

async function giveUpExpired(store: Store, project: string): Promise<boolean> {
  const key = keys.running(project);
  const held = (await store.table.read([key])).get(key)?.held as Set<string> | undefined;
  const expired = [...(held ?? [])].filter((entry) => Number.parseInt(entry, 10) <= store.now());
  if (expired.length > 0) await remove(store, project, expired);
  return expired.length > 0;
}

/** Removing what is gone already changes nothing: two may do it at once. */
async function remove({ table }: Store, project: string, entries: readonly string[]): Promise<void> {
  await table.update({
    Key: keys.running(project),
    UpdateExpression: 'DELETE held :entries',
    ExpressionAttributeValues: { ':entries': new Set(entries) },
  });
}
