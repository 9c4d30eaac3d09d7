import { Refusal } from '../../../base/refusal.ts';
import type { Services } from '../../../carry/services.ts';
import { keys } from '../../../carry/table/keys.ts';
import { ConditionFailed } from '../../../carry/table/transact.ts';
import { inlineResource } from '../../../store/items/content.ts';
import type { ExternalFlow } from '../../issuers/external-flow.ts';
import { type ConfiguredIssuer, linkedUser } from '../../issuers/issuer.ts';
import { hasSignedInRecently, signedInAtMs } from '../../policies/recent-sign-in.ts';
import { loginOf } from '../logins.ts';
import { isMadeFor, type LoginMade } from '../person-login.ts';
import { renewActions } from '../renew-sign-in.ts';

/**
 * They are back, and it is them: their login is as good as one that was made when the issuer says that they signed in.
 * @throws {Refusal} forbidden for another person, and where the issuer has asked for nothing, or does not say when
 */
export async function renewSignIn(
  services: Services,
  { project }: ExternalFlow,
  loginId: string,
  vouched: {
    configured: ConfiguredIssuer;
    made: LoginMade & { signedInAtMs?: number };
    subject: string;
  },
): Promise<void> {
  const { table, now } = services;
  const { configured, made, subject } = vouched;
  const key = keys.login(loginId);
  const login = loginOf((await table.read([key])).get(key));
  const { membershipId } = login ?? {};
  if (!login || membershipId === undefined || project === undefined) throw notThey();
  const of = { issuer: configured.issuer, project: configured.project, subject };
  if ((await linkedUser(table, of, project)) !== login.subject) throw notThey();
  const memberKey = keys.resource(project, 'ProjectMembership', membershipId);
  const membership = inlineResource('ProjectMembership', (await table.read([memberKey])).get(memberKey));
  if (!membership || !isMadeFor(made, membership)) throw notThey();
  const { signedInAtMs: atMs } = made;
  if (atMs === undefined || !hasSignedInRecently({ ...login, signedInAtMs: atMs }, now()))
    throw new Refusal('forbidden', 'The issuer does not say that you have just signed in there');
  if ((signedInAtMs(login) ?? 0) >= atMs) return;
  const actor = {
    project,
    loginId,
    membership,
    subject: login.subject,
    profile: membership.profile.reference,
  };
  await table.transact(renewActions(services, actor, atMs)).catch((error: unknown) => {
    throw error instanceof ConditionFailed ? notThey() : error;
  });
}

function notThey(): Refusal {
  return new Refusal('forbidden', 'This is not the sign-in that was to be renewed, or it has ended');
}
