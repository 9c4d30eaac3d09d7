import { record } from '../../shared/audit/record.ts';
import { endLogin } from '../../shared/login/end-login.ts';
import { idOfLogin, type Login } from '../../shared/login/login-item.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';
import type { TokenServices } from './issue-tokens.ts';

/**
 * Ends a login, and says so in the audit log of its Project. Once: an ended one stays as it is.
 * @param subtype what it ends by: its client's word when left out
 */
export async function endAndRecord(
  services: TokenServices,
  login: Login,
  subtype: 'sign-out' | 'sign-out-idle' = 'sign-out',
): Promise<void> {
  if (login.revoked === true || !(await endLogin(services.table, idOfLogin(login)))) return;
  const { project, membershipId } = login;
  // One that has chosen no membership is of no Project yet.
  if (project === undefined || membershipId === undefined) return;
  const key = keys.resource(project, 'ProjectMembership', membershipId);
  const membership = inlineResource('ProjectMembership', (await services.table.read([key])).get(key));
  await record(services, {
    project,
    subtype,
    action: 'E',
    outcome: '0',
    agent: membership?.profile ?? { reference: `User/${login.subject}` },
    entities: [],
  });
}
