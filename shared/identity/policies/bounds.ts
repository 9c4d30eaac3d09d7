/**
 * Rights never grow: whoever administers gives nobody more than they hold, and acts through no Bot, key or account
 * that holds more. Every operation that could asks here (docs/access-policies.md says which, and why others need not).
 */

import { isDeepStrictEqual } from 'node:util';
import { Refusal, type RefusalIssue } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { typedKeys } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { Found } from '../../carry/table/table.ts';
import { type Action, keyOf } from '../../carry/table/transact.ts';
import {
  isUnbounded,
  type PolicyInRights,
  type ProjectMembership,
  policiesIn,
  type RightName,
  type Rights,
  rightsOf,
} from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import type { Caller } from '../gate/access-token.ts';
import { type Actor, isRoot, policyKey } from '../gate/actor.ts';
import { exceeding } from './contains.ts';
import type { Rule } from './parse-policy.ts';
import { defaultRules, isOwnVariable, policyRules, rulesForAnybody, unknownValue } from './rules.ts';

/** Who gives. */
export interface Giver {
  caller: Pick<Caller, 'admission'>;
  actor: Actor;
}

/** What somebody would hold by an operation, or holds whom it acts through. */
export type Grant =
  | {
      membership: Rights & Pick<ProjectMembership, 'profile'>;
      /** Memberships and invitations that it replaces: as much is asked of the next sign-in. */
      asked?: readonly Rights[];
      /** It is held already, and not to be given. */
      isHeld?: boolean;
    }
  | {
      membership: ProjectMembership;
      /** Whose it is, which stays as it is: `Bot/<id>`. */
      of: string;
    };

/**
 * What a change of a membership gives, and what it was, unless it only deactivates a person or asks for a second factor:
 * who made somebody's rights smaller could act through Bots, which may have, know and be sent more than that.
 */
export function changeGrants(
  before: ProjectMembership,
  membership: Rights & Pick<ProjectMembership, 'profile'> & { active?: boolean },
): Grant[] {
  const { reference } = before.profile;
  const isBack = !before.active && membership.active === true;
  const isProgram = /^(?:Bot|ClientApplication)\//.test(reference);
  const asked = [before];
  if (!isBack && !isProgram && isDeepStrictEqual(heldIn(membership), heldIn(before)))
    return [{ membership, asked, isHeld: true }];
  return [
    { membership: before, of: reference },
    { membership, asked },
  ];
}

/** What a membership allows, and how its holder signs in; a second factor may be asked for besides. */
function heldIn(rights: Rights): object {
  const { mfaRequired: _more, ...held } = rightsOf(rights);
  return held;
}

/** The profile of somebody who is new: nobody's rights speak of it. */
export function newProfile(type: string): { reference: string } {
  return { reference: `${type}/${unknownValue}` };
}

/** Notes that the operation has looked for what it gives, and this far gives nothing more than its caller holds. */
export function givesNothing({ admission }: Giver['caller']): void {
  admission.isWithin = true;
}

/**
 * Asked before anything is written, with all that the operation gives; with nothing where it finds that it gives
 * nothing. An administrator whom no policy narrows gives what they like.
 * @param found what has been read: policies that are not in it are read here
 * @returns what must still hold when it is written: the memberships and policies compared are as they were
 * @throws {Refusal} forbidden, with the field that gives more as expression
 */
export async function requireWithin(
  { table }: Pick<Services, 'table'>,
  { caller, actor }: Giver,
  grants: readonly Grant[],
  found = new Found(new Map()),
): Promise<Action[]> {
  givesNothing(caller);
  if (grants.length === 0 || isRoot(actor)) return [];
  const { project } = actor;
  const wanted = grants
    .flatMap(({ membership }) => policiesIn(membership))
    .map(({ reference }) => policyKey(project, reference));
  const missing = wanted.filter((key) => !found.get(key));
  const all = missing.length > 0 ? found.with(await table.read(missing)) : found;
  const policyAt = (reference: string) =>
    inlineResource('AccessPolicy', all.get(policyKey(project, reference)));
  for (const grant of grants) {
    const issue = faultOf(actor, grant, policyAt);
    if (issue) throw new Refusal('forbidden', issue.text, { issues: [issue] });
  }
  return checksOf(actor, [
    ...grants.flatMap((grant): Seen[] => ('of' in grant ? [seen(project, grant.membership)] : [])),
    ...wanted.map((key): Seen => ({ key, version: all.get(key)?.versionId })),
  ]);
}

/**
 * The same for whoever acts through Bots, clients or people that are there: by their code, their key, their password.
 * @param through their memberships by id, and whose each is: `Bot/<id>`
 */
export async function requireWithinMembers(
  services: Pick<Services, 'table'>,
  { caller, actor }: Giver,
  through: readonly { membershipId: string; of: string }[],
): Promise<Action[]> {
  if (isRoot(actor)) return requireWithin(services, { caller, actor }, []);
  const { project } = actor;
  const at = through.map((one) => ({
    ...one,
    key: keys.resource(project, 'ProjectMembership', one.membershipId),
  }));
  const found = await services.table.read(at.map(({ key }) => key));
  const grants = at.map(({ key, of }): Grant => {
    const membership = inlineResource('ProjectMembership', found.get(key));
    // What it held is not known any more.
    if (!membership)
      throw new Refusal('forbidden', `${of} may have held more than your own accessPolicy allows`);
    return { membership, of };
  });
  return requireWithin(services, { caller, actor }, grants);
}

/**
 * Whoever writes or deletes a policy changes what everybody has who holds it, with variables of their own: what it
 * allowed and what it will must be within what the writer holds, whatever the variables are. Who made a Bot's policy
 * smaller could else act through the Bot, which may have more behind it than it still may do. And it must be of the
 * writer's own making, and is not widened: what two administrators hold would else come together in who holds policies
 * of both.
 * @param policy.before undefined where there was none, or it was deleted
 * @param policy.after undefined when it is deleted
 * @param policy.writtenBy the membership that wrote it last; undefined where that is not known
 * @param policy.isRevived it was deleted, and memberships may name it still
 * @throws {Refusal} forbidden
 */
export function requirePolicyWithin(
  { caller, actor }: Giver,
  policy: {
    before: Resource | undefined;
    after: Resource | undefined;
    writtenBy: string | undefined;
    isRevived: boolean;
  },
): Action[] {
  const { before, after, writtenBy, isRevived } = policy;
  givesNothing(caller);
  if (isRoot(actor)) return [];
  const isOthers = before !== undefined && writtenBy !== actor.membershipId;
  if (isOthers || isRevived)
    throw new Refusal(
      'forbidden',
      'Under an accessPolicy only policies are changed that one has written oneself',
    );
  for (const [policy, what] of [
    [before, 'What is there'],
    [after, 'This'],
  ] as const) {
    const rules = policy ? rulesForAnybody(policy) : [];
    const more = exceedingWithin(actor, rulesHeld(actor), rules);
    if (!more) continue;
    const text = `${what} allows more than your own accessPolicy does: ${more.resourceType}`;
    throw new Refusal('forbidden', text, {
      issues: [{ text, expression: `resource[${rules.indexOf(more)}]` }],
    });
  }
  if (before && after && exceedingWithin(actor, rulesForAnybody(before), rulesForAnybody(after)))
    throw new Refusal(
      'forbidden',
      'Under an accessPolicy no policy is widened, which others may hold: write another one',
    );
  return checksOf(actor, []);
}

/** The actions, and of the conditions those on other items: what is written is conditional by itself. */
export function provided(actions: readonly Action[], checks: readonly Action[]): Action[] {
  const written = new Set(actions.map((action) => nameOf(keyOf(action))));
  const others = new Map(checks.map((check) => [nameOf(keyOf(check)), check]));
  return [...actions, ...[...others].flatMap(([name, check]) => (written.has(name) ? [] : [check]))];
}

/**
 * The first of the rules that none of `held` contains.
 * @throws {Refusal} too-costly where there are too many of both
 */
function exceedingWithin(
  { budget }: Pick<Actor, 'budget'>,
  held: readonly Rule[],
  rules: readonly Rule[],
): Rule | undefined {
  budget.spend('comparisons', held.length * rules.length);
  return exceeding(held, rules);
}

/** The rules that an actor holds; not what an emergency adds: what is given would outlive it. */
function rulesHeld(actor: Actor): readonly Rule[] {
  return policyRules(actor, actor.policies ?? []);
}

type PolicyAt = (reference: string) => Resource | undefined;

/** What is given beyond what the actor holds, or asked less of a sign-in than before. */
function faultOf(actor: Actor, grant: Grant, policyAt: PolicyAt): RefusalIssue | undefined {
  const { membership } = grant;
  const asked = 'asked' in grant ? (grant.asked ?? []) : [];
  const demand = demands.find((name) => asked.some((one) => asksLess[name](one, membership)));
  const lowered = 'What is asked of their sign-in is lowered without an accessPolicy only';
  if (demand) return { text: lowered, expression: demand };
  if ('isHeld' in grant) return undefined;
  const more =
    'of' in grant && holdsNothing(membership, policyAt)
      ? { expression: 'accessPolicy', what: 'its policy grants nothing just now' }
      : beyond(actor, membership, policyAt);
  if (!more) return undefined;
  const text =
    'of' in grant
      ? `${grant.of} may do more than your own accessPolicy allows: ${more.what}`
      : `This allows more than your own accessPolicy does: ${more.what}`;
  return { text, expression: more.expression };
}

/** Whether a policy is gone or grants nothing: what it allowed, and will when it is there again, is not known. */
function holdsNothing(membership: Grant['membership'], policyAt: PolicyAt): boolean {
  const isGone = policiesIn(membership).some(({ reference }) => !policyAt(reference));
  return (
    isGone ||
    partsOf(membership, policyAt).every(({ kind, rules }) => kind !== 'standing' || rules.length === 0)
  );
}

/** A part of what a membership allows. */
interface Part {
  expression: string;
  kind: PolicyInRights['kind'];
  /** Of the policy; undefined for what the kind of profile may. */
  reference?: string;
  /** A parameter replaces a variable of the holder, `%patient`: their rights would speak of another patient. */
  replacesOwnVariable?: boolean;
  rules: readonly Rule[];
}

const everything = 'everything in the Project, as an administrator without an accessPolicy does';

function beyond(
  actor: Actor,
  membership: Grant['membership'],
  policyAt: PolicyAt,
): { expression: string; what: string } | undefined {
  if (isUnbounded(membership)) return { expression: 'accessPolicy', what: everything };
  const held = rulesHeld(actor);
  const mayGrant = (actor.membership.mayGrant ?? []).map(({ reference }) => reference);
  for (const part of partsOf(membership, policyAt)) {
    // Listed as ones to be given, or given to others who do not administer.
    const isForOthers =
      !membership.admin && membership.profile.reference !== actor.membership.profile.reference;
    const given = part.kind === 'mayGrant' || isForOthers ? mayGrant : [];
    if (part.reference !== undefined && given.includes(part.reference) && !part.replacesOwnVariable) continue;
    const more = exceedingWithin(actor, held, part.rules);
    if (more) return { expression: part.expression, what: more.resourceType };
  }
  return undefined;
}

/** What a membership may ask of its logins, and whether a change would ask for less: whoever asked for it was root, or had it so. */
const nothingAsked = () => false;
const asksLess: Record<RightName, (before: Rights, after: Rights) => boolean> = {
  ...{ admin: nothingAsked, accessPolicy: nothingAsked, access: nothingAsked, patient: nothingAsked },
  ...{ emergencyPolicy: nothingAsked, mayGrant: nothingAsked },
  mfaRequired: (before, after) => before.mfaRequired === true && after.mfaRequired !== true,
  authentication: (before, after) =>
    before.authentication !== undefined && !isDeepStrictEqual(before.authentication, after.authentication),
};
const demands = typedKeys(asksLess);

function partsOf(membership: Grant['membership'], policyAt: PolicyAt): Part[] {
  const subject = { profile: membership.profile.reference, membership };
  const parts = policiesIn(membership).map(({ expression, kind, reference, parameters }): Part => {
    const policy = policyAt(reference);
    const rules = policy
      ? kind === 'mayGrant'
        ? rulesForAnybody(policy)
        : policyRules(subject, [{ policy, parameters }])
      : [];
    const replacesOwnVariable = parameters.some(({ name }) => isOwnVariable(name));
    return { expression, kind, reference, replacesOwnVariable, rules };
  });
  if (parts.some(({ kind }) => kind === 'standing')) return parts;
  return [{ expression: 'accessPolicy', kind: 'standing', rules: defaultRules(subject) }, ...parts];
}

/** An item whose content was compared. */
interface Seen {
  key: Key;
  version: unknown;
}

/** The name of the conditions: where one fails, rights were changed at the same time. */
export const boundsName = 'bounds';

function seen(project: string, { resourceType, id, meta }: Resource): Seen {
  return { key: keys.resource(project, resourceType, id), version: meta.versionId };
}

/** That what the actor holds, and what was compared with it, still stands: else rights could grow by two requests at once. */
function checksOf(actor: Actor, compared: readonly Seen[]): Action[] {
  const { project, membership, policies = [] } = actor;
  const all = [
    seen(project, membership),
    ...policies.map(({ policy }) => seen(project, policy)),
    ...compared,
  ];
  const items = new Map(all.map((one) => [nameOf(one.key), one]));
  return [...items.values()].map(({ key, version }) => ({
    name: boundsName,
    check: key,
    ...(version === undefined
      ? { if: 'attribute_not_exists(pk)' }
      : { if: 'versionId = :seen', values: { ':seen': version } }),
  }));
}

function nameOf({ pk, sk }: Key): string {
  return `${pk}\n${sk}`;
}
