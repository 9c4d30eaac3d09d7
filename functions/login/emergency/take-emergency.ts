import { check, description, maxLength, minLength, pipe, string, trim } from 'valibot';
import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { emergencyMinutesOf } from '../../../shared/access/emergency.ts';
import { isForResourcesOnly } from '../../../shared/access/smart-scope.ts';
import type { ProjectMembership } from '../../../shared/fhir/membership.ts';
import { emergencyActions, newGrant } from '../../../shared/invitation/emergency-access.ts';
import { type Login, loginOf } from '../../../shared/login/login-item.ts';
import { isMadeFor } from '../../../shared/login/person-login.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { fields } from '../../../shared/schema/fields.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import { untilWritten } from '../../../shared/table/until-written.ts';
import { emergencyMails } from './emergency-mails.ts';
import { type EmergencyState, emergencyPolicyOf, emergencyState } from './emergency-state.ts';

const reasonText = 'reason must be 10 to 500 characters without control characters';

export const emergencyBody = fields({
  reason: pipe(
    string(reasonText),
    trim(),
    minLength(10, reasonText),
    maxLength(500, reasonText),
    check((text) => !/\p{C}/u.test(text), reasonText),
    description('Why it is needed; administrators read it in the audit log'),
  ),
});

/**
 * A person takes the emergency access that an administrator has prepared for them: until it ends, all their logins of
 * the Project may what its policy allows, beside what they may otherwise. Administrators are told in the same
 * transaction. Asked again with the same reason, as after a lost answer, it answers what goes on and writes nothing.
 * @param body `{reason}`
 * @throws {Refusal} invalid; forbidden for programs, for apps with scopes for resources, for a login without the second
 *   factor that the membership asks for, and where nothing is prepared; conflict while it goes on for another reason;
 *   throttled beyond five a day
 */
export async function takeEmergency(
  services: Services,
  caller: Caller,
  body: unknown,
): Promise<EmergencyState> {
  const { reason } = parse(emergencyBody, body);
  const { project, membershipId } = caller;
  const memberKey = keys.resource(project, 'ProjectMembership', membershipId);
  const projectKey = keys.resource(project, 'Project', project);
  const loginKey = keys.login(caller.loginId);
  return untilWritten(async () => {
    const { actor, found } = await admit(services, caller, [memberKey, projectKey, loginKey]);
    const { membership, emergency } = actor;
    const projectHead = found.get(projectKey);
    requirePersonally(caller, membership, loginOf(found.get(loginKey)));
    const policy = await emergencyPolicyOf(services.table, project, membership);
    const minutes = emergencyMinutesOf(projectHead);
    if (!policy || minutes === 0) {
      throw new Refusal('forbidden', 'No emergency access is prepared for you: ask an administrator');
    }
    if (emergency) {
      if (emergency.grant.reason !== reason)
        throw new Refusal('conflict', 'You have emergency access already: end it before you take it again');
      return emergencyState(policy, { grant: emergency.grant, projectHead });
    }
    const heads = { member: found.get(memberKey), project: projectHead };
    const wanted = { reason, policy: `AccessPolicy/${policy.id}`, minutes, nowMs: services.now() };
    const grant = newGrant(heads, wanted);
    await services.table.transact([
      ...emergencyActions(services, actor, membership, { begins: grant }),
      ...(await emergencyMails(services.table, { project, membership, grant })),
    ]);
    return emergencyState(policy, { grant, projectHead });
  });
}

/** @throws {Refusal} forbidden for whom an emergency is none of: what no person has decided on at this moment */
function requirePersonally({ scope }: Caller, membership: ProjectMembership, login: Login | undefined): void {
  if (login?.kind !== 'person' || isForResourcesOnly(scope))
    throw new Refusal('forbidden', 'Only a person who has signed in takes emergency access');
  if (!isMadeFor(login, membership))
    throw new Refusal('forbidden', 'Sign in again, with a second factor, before you take emergency access');
}
