import type { Caller } from '../../../shared/access/access-token.ts';
import { isIdle } from '../../../shared/access/idle-time.ts';
import type { ProjectMembership } from '../../../shared/fhir/membership.ts';
import type { Reference } from '../../../shared/fhir/resource.ts';
import { draftKeyOf } from '../../../shared/keys/draft-key.ts';
import { idOfLogin, type Login } from '../../../shared/login/login-item.ts';
import { loginsOf } from '../../../shared/login/logins-of.ts';
import { isOwnLogin } from '../../../shared/login/own-login.ts';
import type { Services } from '../../../shared/services.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';

/** What a person sees of their own sign-ins, in the shape that clients of this field read. */
export interface Security {
  /** Left out for an app or an issuer of one Project: it is the person's, above Projects. */
  mfaEnrolled?: boolean;
  /** Seals unsaved work on the person's device; left out for apps of others. */
  draftKey?: string;
  sessions: { id: string; lastUpdated: string; authMethod: 'password' | 'external'; current: boolean }[];
  memberships: { id: string; project: Reference; profile: Reference }[];
}

/** An app or an issuer of one Project learns nothing of the person's others. */
export async function readSecurity(
  services: LoginServices,
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
      .filter(({ project }) => isSeen(project.reference.replace(/^Project\//, '')))
      .map(({ id, project, profile }) => ({ id, project, profile })),
  };
}

/** The heads of the Projects that logins are for, by the ids of these. */
async function headsOf({ table }: Services, logins: readonly Login[]) {
  const projects = [...new Set(logins.flatMap(({ project }) => project ?? []))];
  const keyOf = (project: string) => keys.resource(project, 'Project', project);
  const found = projects.length > 0 ? await table.read(projects.map(keyOf)) : undefined;
  return (project: string | undefined) => (project === undefined ? undefined : found?.get(keyOf(project)));
}

/** The memberships of a User that are active. */
async function membershipsOf({ table }: Services, userId: string): Promise<ProjectMembership[]> {
  const { items } = await table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': keys.user(userId).pk, ':prefix': 'M#' },
    Limit: 100,
  });
  const wanted = items.map((item) =>
    keys.resource(String(item.project), 'ProjectMembership', String(item.membershipId)),
  );
  if (wanted.length === 0) return [];
  const found = await table.read(wanted);
  return wanted.flatMap((key) => {
    const membership = inlineResource('ProjectMembership', found.get(key));
    return membership?.active ? [membership] : [];
  });
}
