import { isDeepStrictEqual } from 'node:util';
import { jsonBytes } from '../../base/json.ts';
import { longestBodyBytes, mostIndexItems } from '../../base/limits.ts';
import { Refusal } from '../../base/refusal.ts';
import { instantAfter, type Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { requireOwnSources, withOwnBinaries } from '../../bots/bot/bot.ts';
import { requireSettings } from '../../bots/bot/settings.ts';
import type { Actor } from '../../identity/gate/actor.ts';
import {
  allows,
  allowsChange,
  keepClosed,
  keptUnseen,
  mayInteract,
  visible,
} from '../../identity/policies/access.ts';
import { requireRecentSignIn } from '../../identity/policies/recent-sign-in.ts';
import { keepFields, withoutFields } from '../../store/fhir/fields.ts';
import { membersReadWith } from '../../store/fhir/structures.ts';
import { indexKeys, tooManyValues } from '../../store/index/index-items.ts';
import { createChange, deleteChange, type PriorState, updateChange } from '../../store/items/change.ts';
import { withBytes } from '../../store/items/content.ts';
import { standingState } from '../../store/items/versions.ts';
import { namesVersion } from '../read/read-resource.ts';
import { contentOf, type SentResource, withCodeContext, withKeptElements } from './parse-resource.ts';
import {
  botScheduleActions,
  changesKeys,
  credentialChanges,
  endProgramActions,
  identifierChanges,
  isProgram,
} from './programs.ts';
import { endSubscriptionActions, planSubscription } from './subscription.ts';
import { nextState } from './validate-resource.ts';
import { type Context, type Located, type Planned, patched, type Write, type WriteOutcome } from './write.ts';

type Forbidden = Partial<Record<'create' | 'update' | 'delete', string>>;

const user = 'Users live above Projects: invite them with POST admin/projects/<id>/invite';
const ownUser = 'A User is changed by that user only, by PUT or PATCH fhir/R4/User/<id>';
const membership =
  'Memberships are made by POST admin/projects/<id>/invite and changed under admin/projects/<id>/members/<id>';
const audit = 'AuditEvents are written by the system only';

/** SPEC section 1: what no policy can allow here, and where it is done instead. */
const forbidden: Readonly<Record<string, Forbidden>> = {
  User: { create: user, update: ownUser, delete: user },
  ProjectMembership: { create: membership, update: membership, delete: membership },
  AuditEvent: { create: audit, update: audit, delete: audit },
  Project: {
    create: 'Projects are made by npm run provision',
    update: 'Projects are changed under admin/projects/<id>',
    delete: 'Projects are not deleted through the API',
  },
  Bot: { create: 'Bots are created by POST admin/projects/<id>/bot' },
  ClientApplication: { create: 'Clients are created by POST admin/projects/<id>/client' },
};

/**
 * Whether the actor may do any of this to resources of the type, whichever they are.
 * @throws {Refusal} forbidden, naming the right endpoint where there is one
 */
export function requireInteraction(actor: Actor, any: readonly (keyof Forbidden)[], type: string): void {
  const texts = any.map((interaction) => forbidden[type]?.[interaction]);
  if (texts[0] !== undefined && texts.every(Boolean)) throw new Refusal('forbidden', texts[0]);
  if (any.some((interaction) => mayInteract(actor, interaction, type))) return;
  throw new Refusal('forbidden', 'Forbidden');
}

/**
 * Decides a write on the state that was read: what is to be written, or why not. Rights come before what the request
 * says of the state, so that no answer tells of what the actor may not see.
 * @throws {Refusal} forbidden, not-found, gone, precondition-failed, conflict, invalid, unprocessable;
 *   insufficient-user-authentication where the keys of a client change
 */
export async function plan(context: Context, write: Write, located: Located): Promise<Planned> {
  const { actor } = context;
  const { resource: before } = located;
  const interaction = interactionOf(write, before);
  requireInteraction(actor, [interaction], write.type);
  if (before && interaction !== 'create' && !(await allows(actor, interaction, before))) {
    // Who may not see it either is told what holds where nothing is.
    if (!(await allows(actor, 'read', before))) {
      requireInteraction(actor, [interactionOf(write, undefined)], write.type);
      requireMatch(write, { resource: undefined });
    }
    throw new Refusal('forbidden', 'Forbidden');
  }
  requireMatch(write, located);
  switch (write.kind) {
    case 'create':
      // R4 conditional create: the one that matches is the answer.
      if (before) return unchanged(context, write, before);
      return planCreate(context, write, located);
    case 'update':
      return located.head ? planUpdate(context, write, located, write) : planCreate(context, write, located);
    case 'patch': {
      if (!before) throw await absent(context, located);
      const { body, emptied } = await patched(actor, write, before);
      return planUpdate(context, write, located, { ...contentOf(body), emptied });
    }
    case 'delete':
      return planDelete(context, write, located);
  }
}

/** What a write does to what is there. */
function interactionOf({ kind }: Write, before: Resource | undefined): 'create' | 'update' | 'delete' {
  if (kind === 'delete') return kind;
  return kind === 'create' || (kind === 'update' && !before) ? 'create' : 'update';
}

/** That a resource was deleted is told to who could see it. */
async function absent({ services, actor }: Context, { head }: Located): Promise<Refusal> {
  if (!head) return new Refusal('not-found', 'Not found');
  const last = await standingState(services.table, head);
  if (last && (await allows(actor, 'read', last.resource))) return new Refusal('gone', 'Gone');
  return new Refusal('forbidden', 'Forbidden');
}

type Saving = Extract<Write, { kind: 'create' | 'update' }>;

/** @property emptied what a patch has emptied in it */
type NextState = Pick<Extract<Write, { kind: 'update' }>, 'body' | 'binary' | 'isRaw'> & {
  emptied?: WeakSet<object>;
};

async function planCreate(context: Context, write: Saving, { id, lock }: Located): Promise<Planned> {
  const { actor, stamp } = context;
  const sent = await keepClosed(actor, withCodeContext(write.body, actor), undefined);
  const own = write.type === 'Subscription' ? planSubscription(context, id, sent, undefined) : undefined;
  const { resource, packed } = await nextState(own?.body ?? sent, id, stamp, undefined, actor.budget);
  const whole = withBytes(stamp.project, resource, packed, write.binary);
  if (!(await allowsChange(actor, undefined, resource))) throw new Refusal('forbidden', 'Forbidden');
  const { head, more } = (await own?.finish(resource)) ?? nothingMore;
  return {
    change: createChange(stamp.project, resource, head, whole),
    more: [...lock, ...more],
    outcome: await outcomeOf(context, 'created', write, resource),
  };
}

/**
 * A rule of R4 that reads what is hidden from the actor would tell by its refusal what is there: what it reads besides is
 * not theirs to change, whatever is there. So would the bound of a resource: half of it is for what they see.
 * @throws {Refusal} forbidden, too-large
 */
async function requireUntold(before: Resource, sent: SentResource, hidden: readonly string[]): Promise<void> {
  const was = fieldsOf(withoutFields(before, hidden));
  const is = fieldsOf(withoutFields(sent, hidden));
  if (jsonBytes(is) > longestBodyBytes / 2)
    throw new Refusal(
      'too-large',
      'What you see of the resource is longer than 2 MiB: the rest is for what you do not see',
    );
  const told = (await membersReadWith(sent.resourceType, hidden)).find(
    (name) => !isDeepStrictEqual(was[name], is[name]),
  );
  if (told === undefined) return;
  const text = `R4 reads ${told} together with what you may not see: it is not yours to change`;
  throw new Refusal('forbidden', 'Forbidden', { issues: [{ text, expression: told }] });
}

/**
 * What is left to the bound of a resource's values would tell how many are hidden: who does not see all has half. Values
 * of what they see count beside the same ones of the rest, for else the bound would tell what the rest has.
 * @throws {Refusal} too-costly
 */
function requireUntoldValues(project: string, resource: Resource, hidden: readonly string[]): void {
  const { resourceType, id, meta } = resource;
  // Nothing is compared: there are no lists yet.
  const rest = keepFields({ resourceType, id, meta }, resource, hidden, { spend: () => undefined });
  const seen = indexKeys(project, withoutFields(resource, hidden), mostIndexItems / 2);
  if (seen.size + indexKeys(project, rest).size > mostIndexItems)
    throw tooManyValues(resourceType, mostIndexItems);
}

async function planUpdate(
  context: Context,
  write: Exclude<Write, { kind: 'create' | 'delete' }>,
  located: Located,
  { body, binary, isRaw, emptied }: NextState,
): Promise<Planned> {
  const { actor, stamp } = context;
  const { id, head, resource: before, lock } = located;
  const whole = isRaw ? withKeptElements(body, before) : body;
  const sent =
    write.type === 'Bot' ? withOwnBinaries(whole, context.services.baseUrl) : withCodeContext(whole, actor);
  const hidden = before ? await keptUnseen(actor, before) : [];
  if (before && hidden.length > 0) await requireUntold(before, sent, hidden);
  const open = await keepClosed(actor, sent, before, emptied);
  const own = write.type === 'Subscription' ? planSubscription(context, id, open, before) : undefined;
  const { resource, packed } = await nextState(own?.body ?? open, id, stamp, head, actor.budget);
  const content = withBytes(stamp.project, resource, packed, binary, head);
  if (hidden.length > 0) requireUntoldValues(stamp.project, resource, hidden);
  if (!(await allowsChange(actor, before, resource))) throw new Refusal('forbidden', 'Forbidden');
  const isSame = before && !binary && !own?.isChange && saysTheSame(before, resource);
  // Who may not read it learns not by this either whether it is what they sent.
  if (isSame && (await allows(actor, 'read', before))) return unchanged(context, write, before);
  if (before && changesKeys(before, resource)) requireRecentSignIn(actor, stamp.nowMs);
  if (write.type === 'Bot') {
    requireSettings(resource);
    await requireOwnSources({ ...context.services, project: stamp.project }, before, resource);
  }
  const further = (await own?.finish(resource)) ?? nothingMore;
  const schedule = write.type === 'Bot' ? await botScheduleActions(context, before, resource) : [];
  const seen: PriorState = { versionId: String(head?.versionId), resource: before };
  return {
    change: updateChange(stamp.project, resource, seen, further.head, content),
    more: [
      ...[...lock, ...further.more, ...schedule],
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
  // R4: deleting what is not there succeeds.
  if (!head || !resource) return { ...nothing, outcome: deleted(write, id) };
  if (changesKeys(resource, undefined)) requireRecentSignIn(actor, stamp.nowMs);
  const own = isProgram(write.type) ? 1 : 0;
  if (Number(head.refs ?? 0) > own) {
    const text = `The ${write.type} is the profile of a membership: remove the member first`;
    throw new Refusal('conflict', text);
  }
  const at = Date.parse(instantAfter(head.lastUpdated, stamp.nowMs));
  // The condition that no interleaving of invite and delete can get round.
  const isUnused = { if: 'attribute_not_exists(refs) OR refs <= :own', values: { ':own': own } };
  const change = deleteChange(stamp.project, resource, { versionId: stamp.newId(), nowMs: at }, isUnused);
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
  if (ifMatch !== undefined && !(resource && namesVersion(ifMatch, resource.meta.versionId))) {
    throw new Refusal('precondition-failed', 'The resource is not at the version that If-Match names');
  }
  if (write.kind === 'update' && write.ifNoneMatch?.trim() === '*' && resource) {
    throw new Refusal('precondition-failed', 'The resource exists already');
  }
}

function deleted({ type }: Write, id: string): WriteOutcome {
  return { kind: 'deleted', type, id, resource: undefined, shown: undefined };
}

async function outcomeOf(
  { actor }: Context,
  kind: WriteOutcome['kind'],
  { type }: Write,
  resource: Resource,
): Promise<WriteOutcome> {
  return { kind, type, id: resource.id, resource, shown: await visible(actor, 'read', resource) };
}
