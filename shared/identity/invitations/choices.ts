import type { Reference } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { projectionOf, queryOf } from '../../carry/table/pages.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { isDisabled } from '../projects/settings.ts';
import { isMadeFor, type LoginMade } from '../sign-in/person-login.ts';
import { type Standing, standingOf, stateOf } from './state.ts';

/** What is read of the mirror of a membership, beside its key: hashes and seeds lie in the same partition. */
export const mirrorAttributes = ['project', 'membershipId'] as const;

/** A login that has to choose one of these with `POST auth/profile`. */
export interface LoginChoices {
  login: string;
  memberships: { id: string; project: Reference; profile: Reference }[];
}

/** A login that has to show a second factor with `POST auth/mfa/verify`. */
export interface LoginWantsCode {
  login: string;
  mfaRequired: true;
}

/**
 * The memberships that a person may choose: active ones, and invitations that are still open, each of
 * those that want a login made like this one; none of a disabled Project.
 * @param login how it was made; with a password alone when left out
 */
export async function choicesOf(
  services: Services,
  userId: string,
  project: string | undefined,
  login: LoginMade = {},
): Promise<Standing[]> {
  const mirrors = await mirrorsOf(services, userId, project);
  const found = await services.table.read(mirrors.flatMap(({ key, projectKey }) => [key, projectKey]));
  return mirrors
    .flatMap(({ key, projectKey }) => {
      const standing = isDisabled(found.get(projectKey)) ? undefined : standingOf(found.get(key));
      const name = inlineResource('Project', found.get(projectKey))?.name;
      return standing ? [typeof name === 'string' ? inProjectNamed(standing, name) : standing] : [];
    })
    .filter((standing) => isChoosable(standing, services.now(), login));
}

/**
 * Those that a password opens, and those that it opens with a second factor. A login that goes on from another one chooses
 * another membership: with the same one it would only prolong it.
 */
export async function choicesWithin(
  services: Services,
  login: LoginMade & {
    userId: string;
    onlyProject?: string | undefined;
    replaces?: { project: string; profile: string } | undefined;
  },
): Promise<Standing[]> {
  const { issuer, userId, onlyProject, replaces } = login;
  const made = issuer === undefined ? { ...login, mfa: true } : login;
  const choices = await choicesOf(services, userId, onlyProject, made);
  return choices.filter(
    ({ membership: { project, profile } }) =>
      project.reference !== `Project/${replaces?.project}` || profile.reference !== replaces?.profile,
  );
}

/** A membership as a person is offered it. */
export function choice({ membership: { id, project, profile } }: Standing) {
  return { id, project, profile };
}

/** By the name that the Project has now: the membership has the one that it was made under. */
function inProjectNamed(standing: Standing, display: string): Standing {
  const { membership } = standing;
  return { ...standing, membership: { ...membership, project: { ...membership.project, display } } };
}

function isChoosable({ membership, invitation }: Standing, nowMs: number, login: LoginMade): boolean {
  return isMadeFor(login, membership) && (membership.active || stateOf(invitation, nowMs) === 'pending');
}

/** Where the memberships of a User are, a hundred at the most, with their Projects. */
async function mirrorsOf(
  { table }: Pick<Services, 'table'>,
  userId: string,
  project?: string,
): Promise<{ key: Key; projectKey: Key }[]> {
  const { pk, sk } = keys.userMembership(userId, project ?? '', '');
  const { items } = await table.query({
    ...queryOf(pk, { prefix: project === undefined ? 'M#' : sk }),
    ...projectionOf(mirrorAttributes),
    // By the role of who exchanges tokens a query that does not say so is refused.
    Select: 'SPECIFIC_ATTRIBUTES',
    Limit: 100,
  });
  return items.map((item) => {
    const id = String(item.project);
    const key = keys.resource(id, 'ProjectMembership', String(item.membershipId));
    return { key, projectKey: keys.resource(id, 'Project', id) };
  });
}

/** The memberships of a User that are active. */
export async function membershipsOf(
  { table }: Pick<Services, 'table'>,
  userId: string,
): Promise<ProjectMembership[]> {
  const mirrors = await mirrorsOf({ table }, userId);
  const found = await table.read(mirrors.map(({ key }) => key));
  return mirrors.flatMap(({ key }) => {
    const membership = inlineResource('ProjectMembership', found.get(key));
    return membership?.active ? [membership] : [];
  });
}
