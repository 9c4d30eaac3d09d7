import type { Caller } from '../../../shared/access/access-token.ts';
import { unauthorized } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { isForResourcesOnly } from '../../../shared/access/smart-scope.ts';
import { visible } from '../../../shared/access/visible.ts';
import { noteShown } from '../../../shared/disclosure.ts';
import { parseReference, type Resource } from '../../../shared/fhir/resource.ts';
import { openState } from '../../../shared/store/content.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type EmergencyState, emergencyPolicyOf, emergencyState } from '../emergency/emergency-state.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { secondFactorOf } from '../second-factor/second-factor.ts';
import { readSecurity, type Security } from './security.ts';

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
export async function readMe(services: LoginServices, caller: Caller): Promise<Me> {
  const profileTarget = parseReference(caller.profile);
  const profileKey = keys.resource(caller.project, profileTarget?.type ?? '', profileTarget?.id ?? '');
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  const userKey = keys.user(caller.subject);
  const { actor, found } = await admit(services, caller, [
    ...[profileKey, projectKey, userKey],
    keys.mfa(caller.subject),
  ]);
  const head = found.get(profileKey);
  const profile = head && (await openState({ table: services.table, project: caller.project }, head));
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
