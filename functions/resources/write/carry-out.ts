import type { Caller } from '../../../shared/access/access-token.ts';
import type { Actor } from '../../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../../shared/audit/audit-event.ts';
import { doneBy, targetOf } from '../../../shared/audit/who.ts';
import type { Stamp } from '../../../shared/fhir/stamp.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { commit, mostActions } from '../../../shared/store/commit.ts';
import type { Action } from '../../../shared/table/transact.ts';
import { untilWritten } from '../../../shared/table/until-written.ts';
import { gatherWrites } from './gather-writes.ts';
import { plan } from './plan.ts';
import { type EntryNames, resolveReferences } from './resolve-references.ts';
import { requireRoom } from './room.ts';
import { tooLargeBundle } from './too-large-bundle.ts';
import type { Context, Located, Outcome, Planned, Write } from './write.ts';
import { writtenBy } from './written-by.ts';

interface CarryOutOptions {
  /** Of entries of a Bundle: what they refer to each other by. */
  names?: EntryNames;
  /** What else must hold, asked when all is decided and nothing is written. @throws {Refusal} */
  before?(outcomes: readonly Outcome[]): Promise<void>;
}

/**
 * Carries out writes, all or none: gather, decide, write once.
 * @throws {Refusal} whatever forbids one of them; unavailable when others kept writing
 */
export async function carryOut(
  services: Services,
  caller: Caller,
  writes: readonly Write[],
  { names, before }: CarryOutOptions = {},
): Promise<Outcome[]> {
  return untilWritten(async () => {
    const { actor, located } = await gatherWrites(services, caller, writes);
    const stamp: Stamp = {
      project: actor.project,
      nowMs: services.now(),
      author: { reference: actor.profile },
      newId: services.newId,
    };
    requireDistinct(writes, located);
    const resolved = await resolveReferences({ services, actor, stamp }, writes, located, names);
    const planned = await planAll({ services, actor, stamp }, resolved, located);
    await before?.(planned.map(({ outcome }) => outcome));
    const changes = planned.flatMap(({ change }, i) =>
      change ? writtenBy(change, actor, writes[i]?.isQuiet === true) : [],
    );
    await requireRoom(services, actor.project, planned);
    const more = planned.flatMap((one) => one.more);
    if (changes.length === 0) return planned.map(({ outcome }) => outcome);
    const all = [...more, audit(services, actor, planned)];
    if (changes.length + all.length > mostActions) throw tooLargeBundle('writes');
    requireApart(all);
    await commit(services.table, changes, { more: all, nowMs: stamp.nowMs });
    return planned.map(({ outcome }) => outcome);
  }, refuseTaken);
}

/** One after the other, so that the first fault in the order of the entries is the one answered. */
async function planAll(
  context: Context,
  writes: readonly Write[],
  located: readonly Located[],
): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (const [i, at] of located.entries()) {
    const write = writes[i];
    if (write) planned.push(await plan(context, write, at));
  }
  return planned;
}

/** R4 transaction: no resource may be in it twice. */
function requireDistinct(writes: readonly Write[], located: readonly Located[]): void {
  const seen = new Set(writes.map(({ type }, i) => `${type}/${located[i]?.id}`));
  if (seen.size < writes.length)
    throw new Refusal('invalid', 'A resource is in the transaction more than once');
}

/** DynamoDB takes an item once in a transaction: two entries with one condition, or one identifier. */
function requireApart(actions: readonly Action[]): void {
  const targets = actions.map((action) => {
    if ('put' in action) return action.put;
    return 'update' in action ? action.update : 'remove' in action ? action.remove : action.check;
  });
  if (new Set(targets.map(({ pk, sk }) => `${pk}\n${sk}`)).size === targets.length) return;
  throw new Refusal('invalid', 'Two entries of the transaction have the same condition or identifier');
}

/** Another Bot's identifier stays another Bot's. */
function refuseTaken(failed: ReadonlySet<string>): void {
  if (!failed.has('identifier')) return;
  throw new Refusal('conflict', 'A Bot with this identifier already exists in this project');
}

const actions = { created: 'C', updated: 'U', deleted: 'D' } as const;

/** One event for all that changes together. */
function audit(services: Services, actor: Actor, planned: readonly Planned[]): Action {
  const changed = planned.filter(({ change }) => change);
  const [first] = changed.map(({ outcome }) => outcome.kind);
  const only = changed.length === 1 && first !== 'unchanged' ? first : undefined;
  const event: Audited = {
    project: actor.project,
    subtype: only ?? 'transaction',
    action: only ? actions[only] : 'E',
    outcome: '0',
    ...doneBy(actor),
    entities: changed.map(({ outcome: { kind, type, id, resource }, was, change }) => ({
      ...targetOf(resource ?? was ?? { resourceType: type, id }),
      detail: [
        { type: 'interaction', valueString: kind },
        { type: 'version', valueString: String(change?.versionId) },
      ],
    })),
  };
  return { name: 'audit', put: auditItem(event, services.newId(), services.now()) };
}
