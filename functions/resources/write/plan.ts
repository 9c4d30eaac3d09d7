import { isDeepStrictEqual } from 'node:util';
import { allowsChange, keepClosed, mayInteract, requireAccess } from '../../../shared/access/access.ts';
import { visible } from '../../../shared/access/visible.ts';
import { withOwnBinaries } from '../../../shared/bot/attachments.ts';
import { requireSettings } from '../../../shared/bot/settings.ts';
import { requireOwnSources } from '../../../shared/bot/source-binary.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { type BinaryContent, withBytes } from '../../../shared/store/binary-content.ts';
import { createChange, deleteChange, type Seen, updateChange } from '../../../shared/store/change.ts';
import { contentOf, withCodeContext, withKeptElements } from './binary-body.ts';
import { botScheduleActions } from './bot-schedule.ts';
import { instantAfter, nextState } from './next-state.ts';
import { requireWritable } from './own-rules.ts';
import type { Sent } from './parse-resource.ts';
import { patched } from './patched.ts';
import { credentialChanges, endProgramActions, identifierChanges, isProgram } from './program-actions.ts';
import { endSubscriptionActions, planSubscription } from './subscription.ts';
import type { Context, Located, Outcome, Planned, Write } from './write.ts';

/**
 * Decides a write on the state that was read: what is to be written, or why not.
 * @throws {Refusal} forbidden, not-found, gone, precondition-failed, conflict, invalid, unprocessable
 */
export async function plan(context: Context, write: Write, located: Located): Promise<Planned> {
  requireMatch(write, located);
  switch (write.kind) {
    case 'create':
      // R4 conditional create: the one that matches is the answer.
      if (located.resource) return unchanged(context, write, located.resource);
      return planCreate(context, write, located);
    case 'update':
      return located.head ? planUpdate(context, write, located, write) : planCreate(context, write, located);
    case 'patch':
      requireWritable(write.type, 'update');
      return planUpdate(context, write, located, contentOf(await patched(context.actor, write, located)));
    case 'delete':
      return planDelete(context, write, located);
  }
}

type Saving = Extract<Write, { kind: 'create' | 'update' }>;

async function planCreate(context: Context, write: Saving, { id, lock }: Located): Promise<Planned> {
  const { actor, stamp } = context;
  requireWritable(write.type, 'create');
  if (!mayInteract(actor, 'create', write.type)) throw new Refusal('forbidden', 'Forbidden');
  const sent = await keepClosed(actor, withCodeContext(write.body, actor), undefined);
  const own = write.type === 'Subscription' ? planSubscription(context, id, sent, undefined) : undefined;
  const state = await nextState(own?.body ?? sent, id, stamp, undefined);
  const { resource, packed } = withBytes(stamp.project, state, write.binary);
  if (!(await allowsChange(actor, undefined, resource))) throw new Refusal('forbidden', 'Forbidden');
  const { head, more } = (await own?.finish(resource)) ?? nothingMore;
  return {
    change: createChange(stamp.project, resource, head, packed),
    more: [...lock, ...more],
    outcome: await outcomeOf(context, 'created', write, resource),
  };
}

async function planUpdate(
  context: Context,
  write: Exclude<Write, { kind: 'create' | 'delete' }>,
  located: Located,
  { body, binary, isRaw }: { body: Sent; binary?: BinaryContent; isRaw?: boolean },
): Promise<Planned> {
  const { actor, stamp } = context;
  const { id, head, resource: before, lock } = located;
  requireWritable(write.type, before ? 'update' : 'create');
  if (!mayInteract(actor, before ? 'update' : 'create', write.type))
    throw new Refusal('forbidden', 'Forbidden');
  const whole = isRaw ? withKeptElements(body, before) : body;
  const sent =
    write.type === 'Bot' ? withOwnBinaries(whole, context.services.baseUrl) : withCodeContext(whole, actor);
  const open = await keepClosed(actor, sent, before);
  const own = write.type === 'Subscription' ? planSubscription(context, id, open, before) : undefined;
  const state = await nextState(own?.body ?? open, id, stamp, head);
  const { resource, packed } = withBytes(stamp.project, state, binary, head);
  if (!(await allowsChange(actor, before, resource))) throw new Refusal('forbidden', 'Forbidden');
  const isSame = before && !binary && !own?.isChange && saysTheSame(before, resource);
  if (before && isSame) return unchanged(context, write, before);
  if (write.type === 'Bot') {
    requireSettings(resource);
    await requireOwnSources({ ...context.services, project: stamp.project }, before, resource);
  }
  const further = (await own?.finish(resource)) ?? nothingMore;
  const schedule = write.type === 'Bot' ? await botScheduleActions(context, before, resource) : [];
  const seen: Seen = { versionId: String(head?.versionId), resource: before };
  return {
    change: updateChange(stamp.project, resource, seen, further.head, packed),
    more: [
      ...lock,
      ...further.more,
      ...schedule,
      ...(before ? identifierChanges(stamp.project, before, resource) : []),
      ...(before ? credentialChanges(before, resource) : []),
    ],
    outcome: await outcomeOf(context, before ? 'updated' : 'created', write, resource),
  };
}

/** Whether two states differ in nothing but when and by whom they were written: then there is no new version. */
function saysTheSame(before: Resource, after: Resource): boolean {
  const { versionId, lastUpdated, author, project } = after.meta;
  const meta = { ...before.meta, versionId, lastUpdated, author, project };
  return isDeepStrictEqual({ ...before, meta }, after);
}

async function planDelete(context: Context, write: Write, { id, head, resource }: Located): Promise<Planned> {
  const { actor, stamp } = context;
  requireWritable(write.type, 'delete');
  if (!mayInteract(actor, 'delete', write.type)) throw new Refusal('forbidden', 'Forbidden');
  // R4: deleting what is not there succeeds.
  if (!head || !resource) return { ...nothing, outcome: deleted(write, id) };
  await requireAccess(actor, 'delete', resource);
  const own = isProgram(write.type) ? 1 : 0;
  if (Number(head.refs ?? 0) > own) throw inUse(write.type);
  const seen = { versionId: String(head.versionId), resource };
  const at = Date.parse(instantAfter(head.lastUpdated, stamp.nowMs));
  const change = deleteChange(
    stamp.project,
    { type: write.type, id },
    { versionId: stamp.newId(), nowMs: at },
    // The condition that no interleaving of invite and delete can get round.
    {
      if: 'versionId = :seen AND (attribute_not_exists(refs) OR refs <= :own)',
      values: { ':seen': seen.versionId, ':own': own },
    },
    seen,
  );
  const more = isProgram(write.type) ? await endProgramActions(context, resource, head) : [];
  if (write.type === 'Subscription') more.push(...endSubscriptionActions(stamp.project, id));
  return { change, was: resource, more, outcome: deleted(write, id) };
}

const nothing = { change: undefined, more: [] };
const nothingMore = { head: {}, more: [] };

async function unchanged(context: Context, write: Write, resource: Resource): Promise<Planned> {
  return { ...nothing, outcome: await outcomeOf(context, 'unchanged', write, resource) };
}

/** R4 http, managing resource contention: `W/"version"`; `*` is any. */
export function requireMatch(write: Write, { resource }: Pick<Located, 'resource'>): void {
  const { ifMatch } = write;
  const version = resource?.meta.versionId;
  if (ifMatch !== undefined) {
    const wanted = ifMatch.split(',').map((tag) => /^\s*(?:W\/)?"(.*)"\s*$/.exec(tag)?.[1] ?? tag.trim());
    if (version === undefined || !(wanted.includes(version) || wanted.includes('*'))) {
      throw new Refusal('precondition-failed', 'The resource is not at the version that If-Match names');
    }
  }
  if (write.kind === 'update' && write.ifNoneMatch?.trim() === '*' && resource) {
    throw new Refusal('precondition-failed', 'The resource exists already');
  }
}

function inUse(type: string): Refusal {
  return new Refusal('conflict', `The ${type} is the profile of a membership: remove the member first`);
}

function deleted({ type }: Write, id: string): Outcome {
  return { kind: 'deleted', type, id, resource: undefined, shown: undefined };
}

async function outcomeOf(
  { actor }: Context,
  kind: Outcome['kind'],
  { type }: Write,
  resource: Resource,
): Promise<Outcome> {
  return { kind, type, id: resource.id, resource, shown: await visible(actor, 'read', resource) };
}
