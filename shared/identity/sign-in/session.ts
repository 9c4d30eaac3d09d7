import { Refusal } from '../../base/refusal.ts';
import { isId, parseReference, type Reference, type Resource } from '../../base/resource.ts';
import { fields, parse, readText } from '../../base/schema.ts';
import { noteShown } from '../../carry/disclosure.ts';
import { draftKeyOf } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { projectIdOf } from '../../store/fhir/membership.ts';
import { inlineResource, openState } from '../../store/items/content.ts';
import { byActor, ownUser } from '../audit/audit-event.ts';
import { record } from '../audit/record.ts';
import { type Caller, unauthorized } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { isIdle } from '../gate/idle-time.ts';
import { membershipsOf } from '../invitations/choices.ts';
import { visible } from '../policies/access.ts';
import { requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { isForResourcesOnly } from '../policies/smart-scope.ts';
import { type EmergencyState, emergencyPolicyOf, emergencyState } from './emergency.ts';
import { endLogin, idOfLogin, isOwnLogin, type Login, loginOf, loginsOf } from './logins.ts';
import type { AccountServices } from './proof.ts';
import { secondFactorOf } from './second-factor.ts';

/** What a person sees of their own sign-ins, in the shape that clients of this field read. */
interface Security {
  /** Left out for an app or an issuer of one Project: it is the person's, above Projects. */
  mfaEnrolled?: boolean;
  /** Seals unsaved work on the person's device; left out for apps of others. */
  draftKey?: string;
  sessions: { id: string; lastUpdated: string; authMethod: 'password' | 'external'; current: boolean }[];
  memberships: { id: string; project: Reference; profile: Reference }[];
}

/** An app or an issuer of one Project learns nothing of the person's others. */
async function readSecurity(
  services: AccountServices,
  caller: Caller,
  mfaEnrolled: boolean,
): Promise<Security> {
  const [logins, memberships] = await Promise.all([
    loginsOf(services, caller.subject),
    membershipsOf(services, caller.subject),
  ]);
  const heads = await headsOf(services, logins);
  const isOver = (login: Login) => isIdle(login, heads(login.project), services.now());
  const current = logins.find((login) => idOfLogin(login) === caller.loginId);
  const isEverything = current !== undefined && isOwnLogin(current);
  const isSeen = (project: unknown) => isEverything || project === caller.project;
  return {
    ...(isEverything ? { mfaEnrolled } : {}),
    ...(current?.clientId === ''
      ? { draftKey: await draftKeyOf(services.keyRings.drafts, caller.subject, caller.project) }
      : {}),
    sessions: logins
      .filter((login) => login.granted === true && isSeen(login.project) && !isOver(login))
      .map((login) => ({
        id: idOfLogin(login),
        lastUpdated: new Date(login.createdAtMs).toISOString(),
        authMethod: login.issuer === undefined ? 'password' : 'external',
        current: login === current,
      })),
    memberships: memberships
      .filter((membership) => isSeen(projectIdOf(membership)))
      .map(({ id, project, profile }) => ({ id, project, profile })),
  };
}

/** The heads of the Projects that logins are for, by the ids of these. */
async function headsOf({ table }: Services, logins: readonly Login[]) {
  const projects = [...new Set(logins.flatMap(({ project }) => project ?? []))];
  const keyOf = (project: string) => keys.resource(project, 'Project', project);
  const found = await table.read(projects.map(keyOf));
  return (project: string | undefined) => (project === undefined ? undefined : found.get(keyOf(project)));
}

/** Who the token speaks for, in the shape that clients of this field read after every sign-in. */
export interface Me {
  user?: Pick<Resource, 'resourceType' | 'id'> & { email?: unknown };
  project: Pick<Resource, 'resourceType' | 'id'> & { name?: unknown };
  membership: Resource;
  profile: Resource;
  config: { resourceType: 'UserConfiguration'; menu: [] };
  /** Of who may take emergency access. */
  emergency?: EmergencyState;
  /** Of people, unless the token has scopes for resources: such an app is no keeper of sessions. */
  security?: Security;
}

/** @throws {Refusal} unauthorized when the membership or its profile is gone */
export async function readMe(services: AccountServices, caller: Caller): Promise<Me> {
  const profileTarget = parseReference(caller.profile);
  const profileKey = keys.resource(caller.project, profileTarget?.type ?? '', profileTarget?.id ?? '');
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  const userKey = keys.user(caller.subject);
  const { actor, found } = await admit(services, caller, [
    ...[profileKey, projectKey, userKey],
    keys.mfa(caller.subject),
  ]);
  const head = found.get(profileKey);
  const profile = head && (await openState(services.table, head));
  const project = inlineResource('Project', found.get(projectKey));
  const user = inlineResource('User', found.get(userKey));
  const isEnrolled = secondFactorOf(caller.subject, found).seed !== undefined;
  if (!profile || !project) throw unauthorized('profile or project is gone');
  const policy = await emergencyPolicyOf(services.table, caller.project, actor.membership);
  const emergency =
    policy && emergencyState(policy, { grant: actor.emergency?.grant, projectHead: found.get(projectKey) });
  const shown = (await visible(actor, 'read', profile.resource)) ?? bare(profile.resource);
  if (services.disclosure) noteShown(services.disclosure, shown);
  return {
    ...(user ? { user: { resourceType: 'User', id: user.id, email: user.email } } : {}),
    project: { resourceType: 'Project', id: project.id, name: project.name },
    membership: actor.membership,
    profile: shown,
    config: { resourceType: 'UserConfiguration', menu: [] },
    ...(emergency && emergency.minutes > 0 ? { emergency } : {}),
    ...(user && !isForResourcesOnly(caller.scope)
      ? { security: await readSecurity(services, caller, isEnrolled) }
      : {}),
  };
}

/** Whoever may not read the own profile still learns which one it is. */
function bare({ resourceType, id, meta }: Resource): Resource {
  return { resourceType, id, meta };
}

/** OpenID Connect Core section 5.1; `fhirUser` is SMART's. */
interface UserInfo {
  sub: string;
  fhirUser: string;
  name?: string;
  email?: string;
}

/**
 * Who the token speaks for, as far as its scopes go. The name is the one that this Project knows.
 * @throws {Refusal} forbidden without the scope `openid`
 */
export async function readUserInfo(services: Services, caller: Caller): Promise<UserInfo> {
  const userKey = keys.user(caller.subject);
  const { actor, found } = await admit(services, caller, [userKey]);
  const scopes = caller.scope.split(' ');
  if (!scopes.includes('openid')) throw new Refusal('forbidden', 'The token has not the scope openid');
  const { display } = actor.membership.profile;
  const email = inlineResource('User', found.get(userKey))?.email;
  return {
    sub: caller.subject,
    fhirUser: `${services.baseUrl}/fhir/R4/${caller.profile}`,
    ...(scopes.includes('profile') && display ? { name: display } : {}),
    ...(scopes.includes('email') && typeof email === 'string' ? { email } : {}),
  };
}

export const revokeLoginBody = fields({
  loginId: readText('loginId must be an id', (id) => (isId(id) ? id : undefined)),
});

/**
 * A person ends one of their own logins, as `auth/me` lists them.
 * @param body `{loginId}`
 * @throws {Refusal} invalid, not-found; forbidden for a token with scopes for resources;
 *   insufficient-user-authentication for another login than that of the token
 */
export async function revokeLogin(services: Services, caller: Caller, body: unknown): Promise<void> {
  const { loginId } = parse(revokeLoginBody, body);
  const key = keys.login(loginId);
  const { actor, found } = await admit(services, caller, [key]);
  if (isForResourcesOnly(caller.scope)) {
    throw new Refusal('forbidden', 'A token with scopes for resources ends no sessions');
  }
  const [own, login] = [loginOf(actor.login), loginOf(found.get(key))];
  const isTheirs = login?.kind === 'person' && login.subject === caller.subject && login.revoked !== true;
  const isSeen = login?.project === caller.project || (own !== undefined && isOwnLogin(own));
  if (!isTheirs || !isSeen) throw new Refusal('not-found', 'There is no such login');
  if (loginId !== caller.loginId) requireRecentSignIn(actor, services.now());
  await endLogin(services.table, loginId);
  const event = { subtype: 'revoke-login', action: 'U', entities: [ownUser(actor)] } as const;
  await record(services, { ...byActor(actor), ...event });
}

/** Ends the login of the token: every token of it is refused from the next request on. */
export async function signOut(services: Services, caller: Caller): Promise<void> {
  const { actor } = await admit(services, caller, []);
  await endLogin(services.table, caller.loginId);
  await record(services, { ...byActor(actor), subtype: 'sign-out', action: 'E', entities: [] });
}
