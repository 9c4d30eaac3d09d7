import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import type { Subtype } from '../../shared/audit/subtypes.ts';
import { doneBy, projectOf } from '../../shared/audit/who.ts';
import { issuerItem } from '../../shared/issuer/issuer-item.ts';
import { IssuerFault } from '../../shared/issuer/issuer-web.ts';
import type { Issuers } from '../../shared/issuer/issuers.ts';
import { issuerBody } from '../../shared/issuer/parse-issuer.ts';
import type { KeyRings } from '../../shared/keys/key-ring.ts';
import { invalidField } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import type { Services } from '../../shared/services.ts';
import type { Action } from '../../shared/table/transact.ts';
import { type IssuerAnswer, issuerAnswer } from './list-issuers.ts';

export interface IssuerServices extends Services {
  issuers: Issuers;
  keyRings: KeyRings<'issuer-secret'>;
}

/**
 * Has the Project trust an issuer for itself; one that it trusts already is replaced, and its people stay
 * linked. The issuer is asked for its discovery document, so that a mistake shows at once.
 * @param body `{issuer, clientId, clientSecret?}`; without a secret our client there is a public one
 * @throws {Refusal} invalid
 */
export async function addIssuer(
  services: IssuerServices,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<IssuerAnswer> {
  await admit(services, caller, []);
  const { issuer, clientId, clientSecret: secret } = parse(issuerBody(services.issuers.web), body);
  await requireDiscovery(services.issuers, issuer);
  // The issuer decides how long that takes: who is no administrator any more by then adds none.
  const { actor } = await admit(services, caller, []);

  const ring = services.keyRings['issuer-secret'];
  const item = await issuerItem(ring, { issuer, clientId, secret, project: caller.project });
  await services.table.transact([
    { name: 'issuer', put: item },
    issuerAudit(services, actor, 'add-issuer', item.sk),
  ]);
  return issuerAnswer(services.baseUrl, item);
}

async function requireDiscovery(issuers: Issuers, issuer: string): Promise<void> {
  try {
    await issuers.discover(issuer);
  } catch (error) {
    if (error instanceof IssuerFault)
      throw invalidField('issuer', `The issuer cannot be used. ${error.message}`);
    throw error;
  }
}

export function issuerAudit(services: Services, actor: Actor, subtype: Subtype, issuerId: string): Action {
  const audited: Audited = {
    project: actor.project,
    subtype,
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
    entities: [{ ...projectOf(actor), detail: [{ type: 'issuer', valueString: issuerId }] }],
  };
  return { name: 'audit', put: auditItem(audited, services.newId(), services.now()) };
}
