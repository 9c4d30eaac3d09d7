import { picklist } from 'valibot';
import { type Caller, unauthorized } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { isForResourcesOnly } from '../../../shared/access/smart-scope.ts';
import { aliveAction } from '../../../shared/login/alive-action.ts';
import { loginOf } from '../../../shared/login/login-item.ts';
import { newLoginActions } from '../../../shared/login/person-login.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { fields, optional } from '../../../shared/schema/fields.ts';
import { keys } from '../../../shared/table/keys.ts';
import { ConditionFailed } from '../../../shared/table/transact.ts';
import { requiredText } from '../bodies.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { secondFactorOf } from '../second-factor/second-factor.ts';
import { choice, choicesWithin, type SignInStep } from './sign-in-step.ts';

export const switchBody = fields({
  codeChallenge: requiredText('codeChallenge', 2000),
  codeChallengeMethod: optional(picklist(['S256'], 'codeChallengeMethod must be S256')),
});

/**
 * Lets a person go to another of their Projects without showing again who they are: a login that was made as the
 * present one was, at the same time, and that ends with it. It reaches what such a sign-in can choose, whichever
 * Project it was begun for, and with the choice the present login ends: a token that was copied opens no second
 * session beside it.
 * @param body `{codeChallenge, codeChallengeMethod?}`, as a sign-in has them
 * @returns the memberships to choose from but the present one, for `auth/profile`; a second factor first, where the
 *   person has got one since
 * @throws {Refusal} forbidden, for programs and for apps other than the service's own
 */
export async function switchProject(
  services: LoginServices,
  caller: Caller,
  body: unknown,
): Promise<SignInStep> {
  const key = keys.login(caller.loginId);
  const { actor, found } = await admit(services, caller, [key, keys.mfa(caller.subject)]);
  const before = loginOf(found.get(key));
  if (before?.kind !== 'person' || before.clientId !== '' || isForResourcesOnly(caller.scope))
    throw new Refusal('forbidden', 'Only a person in the app of the service changes the Project so');
  const { codeChallenge } = parse(switchBody, body);
  const { issuer, issuerProject, mfa, scope, createdAtMs, subject: userId } = before;
  const hasFactor = secondFactorOf(userId, found).seed !== undefined;
  const login = {
    ...{ id: services.newId(), userId, clientId: '', scope, createdAtMs },
    ...{ codeChallenge, codeChallengeMethod: 'S256' as const },
    ...(issuer === undefined ? {} : { issuer, issuerProject }),
    ...(mfa === undefined ? {} : { mfa }),
    needsMfa: issuer === undefined && hasFactor && mfa !== true,
    replaces: { loginId: caller.loginId, project: caller.project, profile: actor.profile },
  };
  const started = [...newLoginActions(login, services.now()), aliveAction(caller.loginId)];
  await services.table.transact(started).catch((error: unknown) => {
    throw error instanceof ConditionFailed ? unauthorized('login ended') : error;
  });
  if (login.needsMfa) return { login: login.id, mfaRequired: true };
  const choices = await choicesWithin(services, login);
  const others = choices.filter(({ membership }) => membership.id !== caller.membershipId);
  return { login: login.id, memberships: others.map(choice) };
}
