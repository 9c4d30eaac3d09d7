import { Refusal } from '../../base/refusal.ts';
import { credentialOf } from '../../carry/keys/credential.ts';
import { countRate } from '../../carry/table/counter.ts';
import { keys } from '../../carry/table/keys.ts';
import { inlineResource } from '../../store/items/content.ts';
import { tokenSeconds } from '../gate/idle-time.ts';
import { choicesOf } from '../invitations/choices.ts';
import type { Standing } from '../invitations/state.ts';
import { findIssuer, linkedUser } from '../issuers/issuer.ts';
import { IssuerFault } from '../issuers/issuer-web.ts';
import { identityOf, madeBy, subjectOf, TokenFault, type Vouched } from '../issuers/issuers.ts';
import { getsRefreshTokens } from '../policies/smart-scope.ts';
import { chosenLoginItems, isMadeFor } from '../sign-in/person-login.ts';
import { claims, type WithIssuers } from './client-authentication.ts';
import { noteUse, signTokens, type TokenAnswer, type TokenServices } from './issue-tokens.ts';
import { namedClient, requireOwnSecret } from './person-grant.ts';
import { type ClientRequest, OAuthError, parseScope } from './token-request.ts';

const tokenType = 'urn:ietf:params:oauth:token-type:';
const types = ['id_token', 'access_token', 'jwt'].map((name) => tokenType + name);

/** Of one person, an hour and Project: each makes a login, and all of a person's are ended when their password changes. */
export const mostExchanges = 500;

/**
 * A person's client exchanges a token that a configured issuer signed for our client there (RFC 8693).
 * It creates nobody, links nobody and accepts nothing: the subject followed an invitation before. Of several
 * memberships `membership_id` picks one.
 * @throws {OAuthError} invalid_request for whatever is wrong with the token (RFC 8693 section 2.2.2)
 * @throws {Refusal} throttled
 */
export async function tokenExchange(
  services: WithIssuers<TokenServices>,
  request: ClientRequest,
): Promise<TokenAnswer> {
  const { parameter } = request;
  const clientId = namedClient(request) ?? '';
  const clientKey = keys.client(clientId);
  const found = await services.table.read([clientKey]);
  requireOwnSecret(request, clientId, { found, nowMs: services.now() });
  const credential = credentialOf(found.get(clientKey));
  const project = credential?.project;
  if (project === undefined) throw new OAuthError('invalid_client', 'Unknown client');
  const token = parameter('subject_token');
  if (!token) throw invalid('Missing subject_token');
  if (!types.includes(parameter('subject_token_type') ?? '')) throw invalid('Unsupported subject_token_type');
  const scope = withoutOffline(parseScope(parameter('scope')));

  const vouched = await verifySubject(services, project, token);
  const { configured } = vouched;
  const userId = await linkedUser(services.table, subjectOf(vouched), project);
  if (userId === undefined) throw unknownSubject();
  const made = madeBy(vouched);
  const choices = (await choicesOf(services, userId, project, made)).filter(
    ({ membership }) => membership.active && isMadeFor(made, membership),
  );
  const { membership } = pick(choices, parameter('membership_id'));

  const loginId = services.newId();
  const chosen = { project, membershipId: membership.id };
  const projectKey = keys.resource(project, 'Project', project);
  const issuerKey = keys.issuer(configured.project, configured.id);
  const now = await services.table.read([projectKey, issuerKey]);
  // Removed while it was asked for its keys, which takes as long as it likes.
  if (!now.get(issuerKey)) throw invalid('The subject_token is not valid', 'issuer was removed');
  const head = now.get(projectKey);
  const projectResource = inlineResource('Project', head);
  if (!projectResource) throw unknownSubject();
  const counted = await countRate(services, project, `exchange#${userId}`);
  const retryAfterSeconds = counted.over(mostExchanges);
  if (retryAfterSeconds !== undefined) {
    const text = `More than ${mostExchanges} exchanges for one person in this hour: use each token for as long as it is good`;
    throw new Refusal('throttled', text, { retryAfterSeconds });
  }
  const login = { id: loginId, userId, clientId, scope, ...made };
  await Promise.all([
    services.table.write(chosenLoginItems(login, services.now(), chosen)),
    noteUse(services, clientId, credential),
  ]);
  const lifetimeSeconds = tokenSeconds({ kind: 'person', clientId, scope }, head);
  const answer = await signTokens(
    services,
    { loginId, clientId, subject: userId, scope, project: projectResource, membership },
    { lifetimeSeconds },
  );
  return { ...answer, issued_token_type: `${tokenType}access_token` };
}

/** Every fault of a token is answered alike; which it was goes to the log. */
async function verifySubject(
  services: WithIssuers<TokenServices>,
  project: string,
  token: string,
): Promise<Vouched> {
  try {
    const { iss } = claims(token);
    const configured = typeof iss === 'string' && (await findIssuer(services.table, project, iss));
    if (!configured) throw new TokenFault('issuer is not configured');
    const { issuer, clientId } = configured;
    const { jwksUri } = await services.issuers.discover(issuer);
    const nowMs = services.now();
    const identity = await identityOf(services.issuers, token, { issuer, jwksUri, clientId, nowMs });
    return { configured, identity };
  } catch (error) {
    if (!(error instanceof TokenFault || error instanceof IssuerFault)) throw error;
    throw invalid(
      error instanceof TokenFault ? 'The subject_token is not valid' : 'The issuer cannot be reached',
      error.message,
    );
  }
}

function pick(choices: readonly Standing[], membershipId: string | undefined): Standing {
  const [only, ...others] = choices.filter(
    ({ membership }) => membershipId === undefined || membership.id === membershipId,
  );
  if (!only) throw unknownSubject();
  if (others.length > 0) throw invalid('There are several memberships: name one as membership_id');
  return only;
}

/** The subject shows its token anew each time: there is nothing to refresh. */
function withoutOffline(scope: string): string {
  return scope
    .split(' ')
    .filter((one) => !getsRefreshTokens(one))
    .join(' ');
}

function unknownSubject(): OAuthError {
  return invalid('The subject has no membership that can be chosen');
}

function invalid(description: string, reason?: string): OAuthError {
  return new OAuthError('invalid_request', description, false, reason);
}
