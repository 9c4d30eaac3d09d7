import { Refusal } from '../../../base/refusal.ts';
import type { Services } from '../../../carry/services.ts';
import { keys } from '../../../carry/table/keys.ts';
import { readItem } from '../../../carry/table/table.ts';
import { orThrow } from '../../../carry/table/transact.ts';
import { textOf } from '../../../store/index/value.ts';
import { inlineResource } from '../../../store/items/content.ts';
import { isToPickPatient, patientInContext } from '../../gate/launch-context.ts';
import { choice, choicesOf } from '../../invitations/choices.ts';
import {
  asRefusal,
  type ExternalFlow,
  endedFlowCookie,
  flowCookieName,
  openFlow,
  type Redirect,
  redeemCode,
} from '../../issuers/external-flow.ts';
import { configuredIssuer, linkActions, linkedUser, subjectWithin } from '../../issuers/issuer.ts';
import { madeBy, subjectOf, TokenFault, type Vouched } from '../../issuers/issuers.ts';
import { hasSignedInRecently, signedInAtMs } from '../../policies/recent-sign-in.ts';
import { chooseMembership } from '../choose-membership.ts';
import { requireLink } from '../invitation-of-link.ts';
import { loginOf } from '../logins.ts';
import { beginLogin, isMadeFor } from '../person-login.ts';
import { renewActions } from '../proof.ts';
import type { ExternalServices } from './start-external.ts';

interface Callback {
  /** From the path: each issuer answers at an address of its own, so none can answer for another. */
  issuerId: string;
  query: URLSearchParams;
  cookie(name: string): string | undefined;
}

/**
 * A person comes back from an external issuer. Their client gets a code, or, in the fragment, a login and
 * the memberships to choose from with `POST auth/profile`. An invitation that they brought is accepted, and
 * the issuer's name for them linked to their User, in one transaction. Who signed in anew for a login that they have
 * brings nothing back.
 * @throws {Refusal} invalid when this browser did not start the sign-in; every other refusal goes to the client
 */
export async function finishExternal(
  services: ExternalServices,
  { issuerId, query, cookie }: Callback,
): Promise<Redirect> {
  const state = query.get('state') ?? '';
  const sealed = cookie(flowCookieName(services.baseUrl, state));
  const flow = await openFlow(services.keyRings['external-sign-in'], state, sealed, services.now());
  if (!flow || flow.issuerId !== issuerId) throw new Refusal('invalid', 'Start the sign-in again');
  const answer = await comeBack(services, flow, query).catch((error: unknown) => refusalOf(services, error));
  const { redirectUri, state: clientState } = flow.request;
  const url = new URL(redirectUri);
  if (clientState !== undefined) url.searchParams.set('state', clientState);
  for (const [name, value] of Object.entries(answer.query ?? {})) url.searchParams.set(name, value);
  if (answer.fragment) url.hash = `${new URLSearchParams({ ...answer.fragment })}`;
  return { location: url.href, cookie: endedFlowCookie(services.baseUrl, flow) };
}

/** What is added to the client's address. */
interface ClientAnswer {
  query?: Record<string, string>;
  fragment?: Record<string, string>;
}

async function comeBack(
  services: ExternalServices,
  flow: ExternalFlow,
  query: URLSearchParams,
): Promise<ClientAnswer> {
  const vouched = await identify(services, flow, query);
  if (flow.loginId !== undefined) {
    await renewSignIn(services, flow, flow.loginId, vouched);
    return {};
  }
  return flow.link ? accept(services, flow, flow.link, vouched) : signInAs(services, flow, vouched);
}

/**
 * They are back, and it is them: their login is as good as one that was made when the issuer says that they signed in.
 * @throws {Refusal} forbidden for another person, and where the issuer has asked for nothing, or does not say when
 */
async function renewSignIn(
  services: Services,
  { project }: ExternalFlow,
  loginId: string,
  vouched: Vouched,
): Promise<void> {
  const { table, now } = services;
  const made = madeBy(vouched);
  const login = loginOf(await readItem(table, keys.login(loginId)));
  if (!login || login.revoked === true) throw notThey();
  const { membershipId } = login;
  if (membershipId === undefined || project === undefined) throw notThey();
  if ((await linkedUser(table, subjectOf(vouched), project)) !== login.subject) throw notThey();
  const head = await readItem(table, keys.resource(project, 'ProjectMembership', membershipId));
  const membership = inlineResource('ProjectMembership', head);
  if (!membership || !isMadeFor(made, membership)) throw notThey();
  const { signedInAtMs: atMs } = made;
  if (atMs === undefined || !hasSignedInRecently({ ...login, signedInAtMs: atMs }, now()))
    throw new Refusal('forbidden', 'The issuer does not say that you have just signed in there');
  if ((signedInAtMs(login) ?? 0) >= atMs) return;
  const profile = membership.profile.reference;
  const actor = { project, loginId, membership, subject: login.subject, profile };
  await table.transact(renewActions(services, actor, atMs)).catch(orThrow(notThey));
}

function notThey(): Refusal {
  return new Refusal('forbidden', 'This is not the sign-in that was to be renewed, or it has ended');
}

async function identify(
  services: ExternalServices,
  flow: ExternalFlow,
  query: URLSearchParams,
): Promise<Vouched> {
  const key = keys.issuer(flow.issuerProject, flow.issuerId);
  const configured = configuredIssuer(await readItem(services.table, key));
  if (!configured) throw new Refusal('forbidden', 'This issuer is not configured any more');
  const discovery = await services.issuers.discover(configured.issuer);
  const from = query.get('iss');
  // RFC 9207: an answer that names another issuer, or none where one is promised, is a mix-up.
  if (from === null ? discovery.saysIssuer : from !== configured.issuer) {
    throw new Refusal('forbidden', 'The answer is of another issuer');
  }
  const code = query.get('code');
  if (!code || query.has('error')) throw new Refusal('forbidden', 'The issuer refused the sign-in');
  return { configured, identity: await redeemCode(services, configured, discovery, { code, flow }) };
}

async function accept(
  services: ExternalServices,
  flow: ExternalFlow,
  link: NonNullable<ExternalFlow['link']>,
  vouched: Vouched,
): Promise<ClientAnswer> {
  const standing = await requireLink(services, link);
  const made = madeBy(vouched);
  if (!isMadeFor(made, standing.membership)) {
    throw new Refusal('forbidden', 'The membership wants another issuer, or a second factor');
  }
  const livesIn = textOf((await readItem(services.table, keys.user(standing.userId)))?.scopeProject);
  const subject = livesIn === undefined ? subjectOf(vouched) : subjectWithin(subjectOf(vouched), livesIn);
  const links = await linkActions(services.table, subject, standing.userId);
  const loginId = await newLogin(services, flow, standing.userId, made);
  // Whoever has several patients picks one at the next sign-in: here there is no page to ask.
  const patient = patientInContext(flow.request.scope, standing.membership, undefined);
  const { code } = await chooseMembership(services, loginId, standing, { patient, extra: links });
  return { query: { code } };
}

async function signInAs(
  services: ExternalServices,
  flow: ExternalFlow,
  vouched: Vouched,
): Promise<ClientAnswer> {
  const userId = await linkedUser(services.table, subjectOf(vouched), flow.project);
  if (userId === undefined) {
    throw new Refusal('forbidden', 'This account is not linked yet: follow the link of an invitation');
  }
  const made = madeBy(vouched);
  const choices = await choicesOf(services, userId, made.issuerProject ?? flow.project, made);
  const [only] = choices;
  if (!only) throw new Refusal('forbidden', 'No membership can be chosen with this issuer');
  const loginId = await newLogin(services, flow, userId, made);
  const toChoose = { fragment: { login: loginId, memberships: JSON.stringify(choices.map(choice)) } };
  if (choices.length > 1 || !only.membership.active) return toChoose;
  const { scope } = flow.request;
  // Which of their patients it is for they are asked when they have chosen.
  if (isToPickPatient(scope, only.membership)) return toChoose;
  const patient = patientInContext(scope, only.membership, undefined);
  const { code } = await chooseMembership(services, loginId, only, { patient });
  return { query: { code } };
}

async function newLogin(
  services: ExternalServices,
  { request, project: onlyProject }: ExternalFlow,
  userId: string,
  made: ReturnType<typeof madeBy>,
): Promise<string> {
  const { clientId, scope, codeChallenge, codeChallengeMethod, redirectUri, nonce } = request;
  const id = services.newId();
  const asked = { clientId, onlyProject, scope, codeChallenge, codeChallengeMethod, redirectUri, nonce };
  await beginLogin(services, { id, userId, ...asked, ...made });
  return id;
}

/** RFC 6749 section 4.1.2.1. Why in full goes to the log. */
function refusalOf(services: ExternalServices, error: unknown): ClientAnswer {
  const refusal = refusalFor(error);
  services.log.info('refused', { kind: refusal.kind, reason: refusal.reason ?? refusal.message });
  const isTransient = refusal.kind === 'unavailable';
  return {
    query: {
      error: isTransient ? 'temporarily_unavailable' : 'access_denied',
      error_description: refusal.message,
    },
  };
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof TokenFault) {
    return new Refusal('forbidden', 'The issuer did not vouch for this sign-in', { reason: error.message });
  }
  return asRefusal(error);
}
