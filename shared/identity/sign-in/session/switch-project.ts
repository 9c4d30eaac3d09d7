import { picklist } from 'valibot';
import { Refusal } from '../../../base/refusal.ts';
import { fields, optionalField, parse, requiredText } from '../../../base/schema.ts';
import { keys } from '../../../carry/table/keys.ts';
import { ConditionFailed } from '../../../carry/table/transact.ts';
import { type Caller, unauthorized } from '../../gate/access-token.ts';
import { admit } from '../../gate/actor.ts';
import { choice, choicesWithin, type LoginChoices, type LoginWantsCode } from '../../invitations/choices.ts';
import { isForResourcesOnly } from '../../policies/smart-scope.ts';
import type { AccountServices } from '../account-services.ts';
import { aliveAction, loginOf } from '../logins.ts';
import { newLoginActions } from '../person-login.ts';
import { secondFactorOf } from '../second-factor.ts';

export const switchBody = fields({
  codeChallenge: requiredText('codeChallenge', 2000),
  codeChallengeMethod: optionalField(picklist(['S256'], 'codeChallengeMethod must be S256')),
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
  services: AccountServices,
  caller: Caller,
  body: unknown,
): Promise<LoginChoices | LoginWantsCode> {
  const { actor, found } = await admit(services, caller, [keys.mfa(caller.subject)]);
  const before = loginOf(actor.login);
  if (before?.kind !== 'person' || before.clientId !== '' || isForResourcesOnly(caller.scope))
    throw new Refusal('forbidden', 'Only a person in the app of the service changes the Project so');
  const { codeChallenge } = parse(switchBody, body);
  const { issuer, issuerProject, mfa, scope, createdAtMs, signedInAtMs, subject: userId } = before;
  const hasFactor = secondFactorOf(userId, found).seed !== undefined;
  const login = {
    ...{ id: services.newId(), userId, clientId: '', scope, createdAtMs },
    ...{ codeChallenge, codeChallengeMethod: 'S256' as const },
    ...(issuer === undefined ? {} : { issuer, issuerProject }),
    ...(mfa === undefined ? {} : { mfa }),
    ...(signedInAtMs === undefined ? {} : { signedInAtMs }),
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
