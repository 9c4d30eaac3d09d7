import { check } from '../../base/schema.ts';
import type { KeyRings } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { findIssuer, issuerBody, issuerItem, issuerRedirectUri } from '../issuers/issuer.ts';
import type { Issuers } from '../issuers/issuers.ts';

/** The event that has the stage trust an issuer for all its Projects, or trust it no more. */
export interface StageIssuerRequest {
  issuer: { issuer: string; clientId: string; clientSecret?: string } | { issuer: string; remove: true };
}

export interface StageIssuer {
  issuer: { id: string; issuer: string; clientId: string; redirectUri: string; removed?: true };
}

export interface StageIssuerServices extends Services {
  issuers: Issuers;
  keyRings: KeyRings<'issuer-secret'>;
}

/**
 * An issuer of the stage vouches for people in every Project that invites them with it: only whoever runs
 * the stage may say so.
 * @throws {Error} when the request is not valid, or the issuer cannot be reached
 */
export async function stageIssuer(
  services: StageIssuerServices,
  { issuer: request }: StageIssuerRequest,
): Promise<StageIssuer> {
  if ('remove' in request) return removeStageIssuer(services, request.issuer);
  const { output, issues } = check(issuerBody(services.issuers.web), request);
  if (issues) throw new Error(issues.map(({ text }) => text).join('. '));
  const { clientSecret: secret, ...fields } = output;
  await services.issuers.discover(fields.issuer);
  const ring = services.keyRings['issuer-secret'];
  const item = await issuerItem(ring, { ...fields, secret, project: undefined });
  await services.table.put(item);
  services.log.info('issuer of the stage added', { issuerId: item.sk });
  return { issuer: shown(services, item.sk, fields) };
}

async function removeStageIssuer(services: StageIssuerServices, issuer: string): Promise<StageIssuer> {
  const configured = await findIssuer(services.table, undefined, issuer);
  if (!configured) throw new Error('The stage has no such issuer');
  await services.table.transact([{ name: 'issuer', remove: keys.issuer(undefined, configured.id) }]);
  services.log.info('issuer of the stage removed', { issuerId: configured.id });
  return { issuer: { ...shown(services, configured.id, configured), removed: true } };
}

function shown(
  { baseUrl }: Services,
  id: string,
  { issuer, clientId }: { issuer: string; clientId: string },
): StageIssuer['issuer'] {
  return { id, issuer, clientId, redirectUri: issuerRedirectUri(baseUrl, id) };
}
