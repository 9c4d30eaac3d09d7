import { invalidField, Refusal } from '../../../base/refusal.ts';
import { fields, optionalText, parse, requiredText } from '../../../base/schema.ts';
import { ConditionFailed } from '../../../carry/table/transact.ts';
import { type Caller, unauthorized } from '../../gate/access-token.ts';
import { admit } from '../../gate/actor.ts';
import { type Redirect, toIssuer } from '../../issuers/external-flow.ts';
import { findIssuer } from '../../issuers/issuer.ts';
import { requireRedirectUri } from '../../memberships/program.ts';
import type { AccountServices } from '../account-services.ts';
import { proofEntries, proofKeys, prove } from '../proof.ts';
import { renewActions, requirePersonal } from '../renew-sign-in.ts';

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
  const { actions, takeBack } = await prove(services, found, { ...proof, userId, source });
  const nowMs = services.now();
  try {
    await services.table.transact([...actions, ...renewActions(services, actor, nowMs)]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.failed.has('login')) throw unauthorized('login ended');
    throw error.failed.has('password')
      ? invalidField('password', 'The password was changed meanwhile')
      : invalidField('token', 'The code is not right');
  }
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
  return toIssuer(services, configured, { request, project, link: undefined, loginId });
}
