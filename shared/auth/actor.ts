import type { Resource } from '../fhir/resource.ts';
import { parseReference } from '../fhir/resource.ts';
import { Refusal } from '../refusal.ts';
import type { Services } from '../services.ts';
import { type Key, keys } from '../table/keys.ts';
import { resourceOf } from '../table/resource-item.ts';
import type { Found, Item } from '../table/table.ts';
import { builtInClient } from './built-in-client.ts';
import { isForResourcesOnly } from './smart-scope.ts';
import { type Caller, unauthorized } from './token.ts';

/** Who calls, as the table says at this request: login and membership alive, policies resolved. */
export interface Actor extends Caller {
  membership: Resource;
  admin: boolean;
  /** The policies that the membership names and that still exist; undefined when it names none. */
  policies: readonly NamedPolicy[] | undefined;
  /** In whose name a run acts beside the Bot's: it may only what each of them may too. */
  within?: readonly Actor[];
}

export interface NamedPolicy {
  policy: Resource;
  /** Values for the policy's variables, from `access[].parameter`. */
  parameters: readonly PolicyParameter[];
}

interface PolicyParameter {
  name: string;
  valueString?: string;
  valueReference?: { reference: string };
}

/**
 * One strongly consistent read for both: is the caller still who the token says, and what the
 * operation wants. A membership whose policies this process does not remember costs one more.
 * @param wanted keys that the operation needs; they answer `found.get`
 * @throws {Refusal} unauthorized when login, membership or client ended after the token was issued
 */
export async function admit(
  services: Services,
  caller: Caller,
  wanted: readonly Key[],
): Promise<{ actor: Actor; found: Found }> {
  const loginKey = keys.login(caller.loginId);
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
    ...(clientKey ? [clientKey] : []),
    ...asked.flatMap(({ key, remembered }) => [key, ...remembered]),
    ...wanted,
  ]);
  if (!caller.run) requireLogin(found.get(loginKey), caller);
  if (clientKey && !found.get(clientKey)) throw unauthorized('client ended');

  const members = asked.map(({ one, key, remembered }) => {
    const membership = requireMembership(found.get(key));
    const named = namedPolicies(membership, one.project);
    services.memory.policies.set(
      one.membershipId,
      named.map((entry) => entry.key),
    );
    const missing = named.filter((entry) => !remembered.some((known) => known.pk === entry.key.pk));
    return { one, membership, named, missing: missing.map((entry) => entry.key) };
  });
  const missing = members.flatMap((member) => member.missing);
  const all = missing.length > 0 ? found.with(await services.table.read(missing)) : found;
  const [first, ...others] = members.map(({ one, membership, named }): Actor => {
    const policies = named.flatMap(({ key, parameters }) => {
      const policy = resourceOf(all.get(key));
      return policy ? [{ policy, parameters }] : [];
    });
    const admin = membership.admin === true;
    return { ...one, membership, admin, policies: named.length > 0 ? policies : undefined };
  });
  const actor = first as Actor;
  if (others.length === 0) return { actor, found: all };
  // A run in somebody's name never administers.
  return {
    actor: { ...actor, admin: false, within: others.map((one) => ({ ...one, admin: false })) },
    found: all,
  };
}

/** A login that was given scopes for resources has those, and administers nothing. */
export function mayAdminister({ admin, scope }: Pick<Actor, 'admin' | 'scope'>): boolean {
  return admin && !isForResourcesOnly(scope);
}

/** The same body whether or not the Project exists. */
export function requireAdministrator(actor: Actor, project: string): void {
  if (!mayAdminister(actor) || actor.project !== project) throw new Refusal('forbidden', 'Forbidden');
}

/** The registered client that a person uses: it ends apart from them. A program's own membership says it. */
function clientKeyOf({ run, clientId, subject }: Caller): Key | undefined {
  const isRegistered = clientId !== '' && clientId !== subject && builtInClient(clientId) === undefined;
  return run === undefined && isRegistered ? keys.client(clientId) : undefined;
}

function requireMembership(item: Item | undefined): Resource {
  const membership = resourceOf(item);
  if (!membership || membership.active === false) throw unauthorized('membership ended');
  return membership;
}

function requireLogin(login: Item | undefined, caller: Caller): void {
  if (!login || login.revoked === true) throw unauthorized('login ended');
  if (login.membershipId !== caller.membershipId) throw unauthorized('login chose another membership');
}

interface Access {
  policy?: { reference?: unknown };
  parameter?: PolicyParameter[];
}

/** `accessPolicy` and each `access[].policy`, as keys of this Project; anything else grants nothing. */
function namedPolicies(membership: Resource, project: string) {
  const single = membership.accessPolicy as { reference?: unknown } | undefined;
  const access = [...(single ? [{ policy: single }] : []), ...((membership.access as Access[]) ?? [])];
  return access.map(({ policy, parameter = [] }: Access) => {
    const target = parseReference(policy?.reference);
    const id = target?.type === 'AccessPolicy' ? target.id : 'none';
    return { key: keys.resource(project, 'AccessPolicy', id), parameters: parameter };
  });
}
