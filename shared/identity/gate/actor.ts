import type { GenericSchema, InferOutput } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { parseReference, type Resource } from '../../base/resource.ts';
import { check } from '../../base/schema.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Disclosure } from '../../carry/disclosure.ts';
import type { Services } from '../../carry/services.ts';
import type { Budget } from '../../carry/table/budget.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { type Found, readItem } from '../../carry/table/table.ts';
import type { MembershipAccess, ProjectMembership } from '../../store/fhir/membership.ts';
import { patientsOf } from '../../store/index/key-range.ts';
import { inlineResource, isStanding, openState, type ProjectTable } from '../../store/items/content.ts';
import { requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { isForResourcesOnly } from '../policies/smart-scope.ts';
import {
  auditsReads,
  featuresOff,
  isDisabled,
  type ProjectFeature,
  requestShareOf,
} from '../projects/settings.ts';
import { type Caller, type Claims, isOwnClient, unauthorized } from './access-token.ts';
import { activeGrant, type EmergencyGrant, isInEmergency } from './emergency.ts';
import { hasEndedWith, idleSecondsOf, isIdleItem } from './idle-time.ts';

/** The resource that a Binary's `securityContext` names; undefined when none of this Project stands there. */
type ContextReader = (binary: Resource) => Promise<Resource | undefined>;

/**
 * R4 Binary.securityContext: that very resource decides who may have the bytes. Each is read once a
 * request. A Binary is no context for another: a chain of them would have no end.
 */
function contextReader({ table, project }: ProjectTable, disclosure: Disclosure | undefined): ContextReader {
  const known = new Map<string, Promise<Resource | undefined>>();
  const read = async (type: string, id: string) => {
    const head = await readItem(table, keys.resource(project, type, id));
    const context = isStanding(head) ? (await openState(table, head))?.resource : undefined;
    if (context) disclosure?.contexts.set(`${type}/${id}`, [...patientsOf(context)]);
    return context;
  };
  return async ({ securityContext }) => {
    const { reference } = fieldsOf(securityContext);
    const target = parseReference(reference);
    if (!target || target.type === 'Binary') return undefined;
    const name = `${target.type}/${target.id}`;
    const reading = known.get(name) ?? read(target.type, target.id);
    known.set(name, reading);
    return reading;
  };
}

/** Who calls, as the table says at this request: login and membership alive, policies resolved. */
export interface Actor extends Claims {
  membership: ProjectMembership;
  /** As it was read with them; a run has none. */
  login?: Item | undefined;
  admin: boolean;
  /** The policies that the membership names and that still exist; undefined when it names none. */
  policies: readonly NamedPolicy[] | undefined;
  /** What the member may beside all that while they have emergency access; undefined while they have none. */
  emergency?: { grant: EmergencyGrant; policies: readonly NamedPolicy[] };
  /** In whose name a run acts beside the Bot's: it may only what each of them may too. */
  within?: readonly Actor[];
  /** An administrator who asks what this member may see: no rule tells them of elements that are hidden from them. */
  onlooker?: Actor;
  /** The features that their Project is provisioned without. */
  lacking?: readonly ProjectFeature[];
  /** What a Binary is part of, which decides who may have it. */
  contextOf: ContextReader;
  /** Of the request: rules are many where a policy is long. */
  budget: Budget;
  /** Of the request, where what it shows is recorded. */
  disclosure?: Disclosure | undefined;
}

export interface NamedPolicy {
  policy: Resource;
  /** Values for the policy's variables, from `access[].parameter`. */
  parameters: readonly PolicyParameter[];
}

type PolicyParameter = NonNullable<MembershipAccess['parameter']>[number];

/** Somebody who may call, with what was read for them. */
export interface Admitted {
  actor: Actor;
  found: Found;
  projectHead: Item | undefined;
}

/**
 * One strongly consistent read for both: is the caller still who the token says, and what the
 * operation wants. A membership whose policies this process does not remember costs one more. What the
 * route asks is checked here too, so that no operation answers before it holds.
 * @param wanted keys that the operation needs; they answer `found.get`
 * @throws {Refusal} unauthorized when login, membership, client or Project ended after the token was issued;
 *   forbidden, with one body, for another Project's path and for who lacks the route's right;
 *   insufficient-user-authentication for who has it, and has signed in too long ago for the route
 */
export async function admit(
  services: Services,
  { admission, ...caller }: Caller,
  wanted: readonly Key[],
): Promise<Admitted> {
  const loginKey = keys.login(caller.loginId);
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  const clientKey = clientKeyOf(caller);
  const asked = [caller, ...(caller.run?.within ?? []).map((other) => ({ ...caller, ...other }))].map(
    (one) => ({
      one,
      key: keys.resource(one.project, 'ProjectMembership', one.membershipId),
      remembered: services.memory.policies.get(one.membershipId) ?? [],
    }),
  );
  const found = await services.table.read([
    ...(caller.run ? [] : [loginKey]),
    projectKey,
    ...(clientKey ? [clientKey] : []),
    ...asked.flatMap(({ key, remembered }) => [key, ...remembered]),
    ...wanted,
  ]);
  const projectHead = found.get(projectKey);
  services.shares?.provision(caller.project, requestShareOf(projectHead));
  if (isDisabled(projectHead)) throw unauthorized('project disabled');
  if (services.disclosure) services.disclosure.isAudited = auditsReads(projectHead);
  if (!caller.run) {
    const login = requireLogin(found.get(loginKey), caller);
    const memberKey = keys.resource(caller.project, 'ProjectMembership', caller.membershipId);
    if (hasEndedWith(found.get(memberKey), login)) throw unauthorized('login ended with its membership');
    if (isIdleItem(login, projectHead, caller.askedAtMs ?? services.now())) throw unauthorized('login idle');
    const idleSeconds = idleSecondsOf(login, projectHead);
    if (idleSeconds !== undefined) admission.idleSeconds = idleSeconds;
  }
  if (clientKey && !found.get(clientKey)) throw unauthorized('client ended');

  const members = asked.map(({ one, key, remembered }) => {
    const membership = requireMembership(found.get(key));
    const { display } = membership.profile;
    if (display !== undefined) services.memory.names.set(one.membershipId, display);
    // A run has what its Bot has, in whosever name it acts.
    const heads = { member: found.get(key), project: projectHead };
    const grant = caller.run ? undefined : activeGrant(membership, heads, services.now());
    const named = namedPolicies(membership, grant, one.project);
    services.memory.policies.set(one.membershipId, named.keys);
    const missing = named.keys.filter(({ pk }) => !remembered.some((known) => known.pk === pk));
    return { one, membership, named, missing };
  });
  const missing = members.flatMap((member) => member.missing);
  const all = missing.length > 0 ? found.with(await services.table.read(missing)) : found;
  const shared = {
    login: caller.run ? undefined : found.get(loginKey),
    lacking: featuresOff(projectHead),
    contextOf: contextReader({ table: services.table, project: caller.project }, services.disclosure),
    budget: services.table.budget,
    disclosure: services.disclosure,
  };
  const [first, ...others] = members.map(
    ({ one, membership, named }): Actor => ({
      ...{ ...one, membership, admin: membership.admin === true },
      ...named.standing(all),
      ...shared,
    }),
  );
  if (!first) throw new Error('Nobody was asked about');
  if (first.emergency) {
    const leftMs = first.emergency.grant.untilMs - services.now();
    admission.emergencySeconds = Math.max(1, Math.ceil(leftMs / 1000));
  }
  // A run in somebody's name never administers.
  const actor =
    others.length === 0
      ? first
      : { ...first, admin: false, within: others.map((one) => ({ ...one, admin: false })) };
  const { right, signIn, projectId = actor.project } = admission;
  if (projectId !== actor.project) throw forbidden();
  if (right === 'administrator') requireAdministrator(actor);
  if (admission.bounds === 'root') requireRoot(actor);
  if (!isRoot(actor)) actor.budget.blur();
  if (signIn === 'recent') requireRecentSignIn(actor, services.now());
  if (services.disclosure && isInEmergency(actor)) services.disclosure.isEmergency = true;
  services.memory.admitted.set(actor.membershipId, services.now());
  admission.isGranted = true;
  return { actor, found: all, projectHead };
}

/** A login that was given scopes for resources has those, and administers nothing. */
export function mayAdminister({ admin, scope }: Pick<Actor, 'admin' | 'scope'>): boolean {
  return admin && !isForResourcesOnly(scope);
}

/** An administrator whom no policy narrows: there is nothing in the Project that they may not give. */
export function isRoot(actor: Pick<Actor, 'admin' | 'scope' | 'policies'>): boolean {
  return mayAdminister(actor) && actor.policies === undefined;
}

/** For an operation that members may carry out too, for themselves. @throws {Refusal} forbidden */
export function requireAdministrator(actor: Actor): void {
  if (!mayAdminister(actor)) throw forbidden();
}

/** For what is within nobody's policy. @throws {Refusal} forbidden */
export function requireRoot(actor: Actor): void {
  if (isRoot(actor)) return;
  const text = 'Only an administrator whom no accessPolicy narrows may do this';
  throw new Refusal('forbidden', text, { issues: [{ text, expression: 'accessPolicy' }] });
}

/** For what ends something that a member began: they do, or somebody whom no policy narrows. @throws {Refusal} forbidden */
export function requireOwn(actor: Actor, membershipId: string): void {
  if (actor.membershipId !== membershipId) requireRoot(actor);
}

/** The same body whether or not there is such a Project. */
function forbidden(): Refusal {
  return new Refusal('forbidden', 'Forbidden');
}

/** The registered client that a person uses: it ends apart from them. A program's own membership says it. */
function clientKeyOf({ run, clientId, subject }: Claims): Key | undefined {
  const isRegistered = clientId !== subject && !isOwnClient(clientId);
  return run === undefined && isRegistered ? keys.client(clientId) : undefined;
}

function requireMembership(item: Item | undefined): ProjectMembership {
  const membership = inlineResource('ProjectMembership', item);
  if (!membership || membership.active === false) throw unauthorized('membership ended');
  return membership;
}

function requireLogin(login: Item | undefined, caller: Claims): Item {
  if (!login || login.revoked === true) throw unauthorized('login ended');
  if (login.membershipId !== caller.membershipId) throw unauthorized('login chose another membership');
  return login;
}

/**
 * `accessPolicy`, each `access[].policy` and the policy of emergency access that goes on, in this Project; anything else
 * grants nothing.
 * @returns their keys, and what of them stands once these are read
 */
export function namedPolicies(
  { accessPolicy, access = [] }: ProjectMembership,
  grant: EmergencyGrant | undefined,
  project: string,
) {
  const keyed = (all: readonly MembershipAccess[]) =>
    all.map(({ policy, parameter = [] }) => ({
      key: policyKey(project, policy.reference),
      parameters: parameter,
    }));
  const own = keyed([...(accessPolicy ? [{ policy: accessPolicy }] : []), ...access]);
  const added = keyed(grant ? [{ policy: { reference: grant.policy } }] : []);
  return {
    keys: [...own, ...added].map(({ key }) => key),
    standing(found: Found): Pick<Actor, 'policies' | 'emergency'> {
      const there = (named: typeof own) =>
        named.flatMap(({ key, parameters }) => {
          const policy = inlineResource('AccessPolicy', found.get(key));
          return policy ? [{ policy, parameters }] : [];
        });
      return {
        policies: own.length > 0 ? there(own) : undefined,
        ...(grant ? { emergency: { grant, policies: there(added) } } : {}),
      };
    },
  };
}

/** Of what is no policy, a key that leads nowhere. */
export function policyKey(project: string, reference: string): Key {
  const target = parseReference(reference);
  return keys.resource(project, 'AccessPolicy', target?.type === 'AccessPolicy' ? target.id : 'none');
}

/** Less than a Project is disabled for before it can be deleted. */
const latelyMs = 10 * 60_000;

/**
 * Whether what this process remembers is late enough to write by it before the caller is admitted: whose rights ended
 * long ago writes nothing, and nothing comes into a Project that is being deleted.
 * @param atMs undefined where nothing is remembered
 */
export function isLately({ now }: Pick<Services, 'now'>, atMs: number | undefined): boolean {
  return atMs !== undefined && atMs > now() - latelyMs;
}

/**
 * A body that has to be read before the caller is admitted, because it says what else to read. Who may
 * not call at all is told that, and not what is wrong with the body.
 * @throws {Refusal} invalid, with one issue a field; what `admit` throws
 */
export async function parseOfCaller<const Schema extends GenericSchema>(
  services: Services,
  caller: Caller,
  schema: Schema,
  body: unknown,
): Promise<InferOutput<Schema>> {
  const checked = check(schema, body);
  if (!checked.issues) return checked.output;
  await admit(services, caller, []);
  throw new Refusal('invalid', 'The body is not valid', { issues: checked.issues });
}
