import { picklist } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { fields, optionalField, optionalText, parse, requiredText } from '../../base/schema.ts';
import { keys } from '../../carry/table/keys.ts';
import { orThrow } from '../../carry/table/transact.ts';
import { type Caller, unauthorized } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { choice, choicesWithin, type LoginChoices, type LoginWantsCode } from '../invitations/choices.ts';
import { type Redirect, toIssuer } from '../issuers/external-flow.ts';
import { findIssuer } from '../issuers/issuer.ts';
import { requireRedirectUri } from '../memberships/program.ts';
import { isForResourcesOnly } from '../policies/smart-scope.ts';
import { aliveAction, loginOf } from './logins.ts';
import { beginLogin } from './person-login.ts';
import {
  type AccountServices,
  proofEntries,
  proofKeys,
  prove,
  refuseProof,
  renewActions,
  requirePersonal,
} from './proof.ts';
import { secondFactorOf } from './second-factor.ts';

export const reauthenticateBody = fields(proofEntries);

/** Until when what needs a recent sign-in is not asked for one again. */
export interface Reauthenticated {
  /** An instant. */
  signedIn: string;
}

/**
 * A person shows again who they are, in a login of theirs: its tokens may do what needs a recent sign-in.
 * @param input.body `{password}` or `{token}`, a code of the second factor
 * @throws {Refusal} invalid, throttled; forbidden for programs and for apps with scopes for resources; unauthorized when the
 *   login has ended meanwhile
 */
export async function reauthenticate(
  services: AccountServices,
  caller: Caller,
  { body, source }: { body: unknown; source: string },
): Promise<Reauthenticated> {
  const proof = parse(reauthenticateBody, body);
  const userId = caller.subject;
  const { actor, found } = await admit(services, caller, proofKeys(userId));
  if (requirePersonal(actor).issuer !== undefined)
    throw new Refusal(
      'invalid',
      'Who signed in at an issuer does so again: POST auth/external/reauthenticate',
    );
  const { actions, takeBack } = await prove(services, found, { ...proof, actor, source });
  const nowMs = services.now();
  const refused = (failed: ReadonlySet<string>) => {
    if (!failed.has('login')) refuseProof(failed);
    return unauthorized('login ended');
  };
  const all = [...actions, ...renewActions(services, actor, nowMs)];
  await services.table.transact(all).catch(orThrow(refused));
  await takeBack();
  return { signedIn: new Date(nowMs).toISOString() };
}

/** Short enough to fit a cookie with the rest. */
const longest = 400;

export const reauthenticateExternalBody = fields({
  redirectUri: requiredText('redirectUri', longest),
  state: optionalText('state', longest),
});

/**
 * Sends a person to the issuer that vouched for their login, to sign in there once more.
 * @param body `{redirectUri, state?}`, where they come back to: a page of our own app, or one of their client
 * @throws {Refusal} invalid for a login that no issuer vouched for; forbidden for programs; unavailable
 */
export async function reauthenticateExternal(
  services: AccountServices,
  caller: Caller,
  body: unknown,
): Promise<Redirect> {
  const { redirectUri, state } = parse(reauthenticateExternalBody, body);
  const { actor } = await admit(services, caller, []);
  const { issuer, issuerProject, clientId, scope } = requirePersonal(actor);
  const configured =
    issuer === undefined ? undefined : await findIssuer(services.table, issuerProject, issuer);
  if (configured?.project !== issuerProject || !configured)
    throw new Refusal('invalid', 'No issuer vouched for this sign-in: POST auth/reauthenticate');
  const request = {
    ...{ clientId, redirectUri, state, scope, nonce: undefined },
    // No code comes of it.
    ...{ codeChallenge: '', codeChallengeMethod: 'S256' as const },
  };
  await requireRedirectUri(services, request);
  const { project, loginId } = caller;
  return toIssuer(services, configured, { request, project, loginId });
}

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
  const { issuer, issuerProject, mfa, createdAtMs, signedInAtMs, subject: userId } = before;
  const hasFactor = secondFactorOf(userId, found).seed !== undefined;
  const login = {
    // Not what the login had, where this token has less of it.
    ...{ id: services.newId(), userId, clientId: '', scope: caller.scope, createdAtMs },
    ...{ codeChallenge, codeChallengeMethod: 'S256' as const },
    ...(issuer === undefined ? {} : { issuer, issuerProject }),
    ...(mfa === undefined ? {} : { mfa }),
    ...(signedInAtMs === undefined ? {} : { signedInAtMs }),
    needsMfa: issuer === undefined && hasFactor && mfa !== true,
    replaces: { loginId: caller.loginId, project: caller.project, profile: actor.profile },
  };
  const begun = beginLogin(services, login, [aliveAction(caller.loginId)]);
  await begun.catch(orThrow(() => unauthorized('login ended')));
  if (login.needsMfa) return { login: login.id, mfaRequired: true };
  const choices = await choicesWithin(services, login);
  return { login: login.id, memberships: choices.map(choice) };
}
