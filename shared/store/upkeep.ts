import { fieldsOf } from '../fields-of.ts';
import { isResourceType } from '../index/registry.ts';
import type { Item } from '../table/item.ts';
import { keys, parseHead } from '../table/keys.ts';
import { keysOfStates, removeStale, type Store, type Target } from './remove-stale.ts';

/** A version of a resource: all that its key needs. */
interface VersionName {
  versionId: string;
  lastUpdated: string;
}

/** What a change left to do: index items of the version before go. It names both and holds neither. */
export interface Upkeep extends Target {
  after: VersionName;
  before: VersionName | undefined;
}

/** The upkeep that a head asks for, by its states before and after a write; undefined when none. */
export function upkeepOf(before: Item | undefined, after: Item | undefined): Upkeep | undefined {
  const target = after?.untidy === true ? parseHead(after) : undefined;
  if (!after || !target || !isResourceType(target.type) || target.type === 'AuditEvent') return undefined;
  if (before?.versionId === after.versionId) return undefined;
  return { ...target, after: nameOf(after), before: before && nameOf(before) };
}

/** Does it. Doing it twice, late, or after the next change does no harm. */
export async function keepIndex(store: Store, { after, before, ...target }: Upkeep): Promise<void> {
  const { project, type, id } = target;
  const key = before && keys.version(project, type, id, before);
  const version = key && (await store.table.read([key])).get(key);
  const candidates = await keysOfStates(store.table, project, [version]);
  await removeStale(store, target, after.versionId, candidates);
}

/** @throws {Error} when the body is no upkeep */
export function parseUpkeep(body: unknown): Upkeep {
  const { project, type, id, after, before } = fieldsOf(body);
  if (typeof project !== 'string' || typeof type !== 'string' || typeof id !== 'string') {
    throw new Error('The message names no resource');
  }
  return { project, type, id, after: parseName(after), before: before ? parseName(before) : undefined };
}

function nameOf({ versionId, lastUpdated }: Item): VersionName {
  return { versionId: String(versionId), lastUpdated: String(lastUpdated) };
}

function parseName(value: unknown): VersionName {
  const { versionId, lastUpdated } = fieldsOf(value);
  if (typeof versionId === 'string' && typeof lastUpdated === 'string') return { versionId, lastUpdated };
  throw new Error('The message names no version');
}
