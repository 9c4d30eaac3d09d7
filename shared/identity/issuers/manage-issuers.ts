import { invalidField, Refusal } from '../../base/refusal.ts';
import { isId } from '../../base/resource.ts';
import { check, parse } from '../../base/schema.ts';
import type { KeyRings } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { queryOf } from '../../carry/table/pages.ts';
import { type Action, orThrow } from '../../carry/table/transact.ts';
import { auditAction, details, projectOf } from '../audit/audit-event.ts';
import type { Subtype } from '../audit/subtypes.ts';
import type { Caller } from '../gate/access-token.ts';
import { type Actor, admit } from '../gate/actor.ts';
import {
  type ConfiguredIssuer,
  configuredIssuer,
  findIssuer,
  issuerBody,
  issuerItem,
  issuerRedirectUri,
} from './issuer.ts';
import { discover, IssuerFault } from './issuer-web.ts';
import { type Issuers, parseKeySet } from './issuers.ts';

/** An issuer as administrators see it. Its secret is never answered. */
interface IssuerAnswer {
  id: string;
  issuer: string;
  clientId: string;
  hasSecret: boolean;
  /** To be registered at the issuer. */
  redirectUri: string;
}

/** The issuers that the Project trusts for itself. */
export async function listIssuers(
  services: Services,
  caller: Caller<'administrator'>,
): Promise<{ issuers: IssuerAnswer[] }> {
  await admit(services, caller, []);
  const { pk } = keys.issuer(caller.project, '');
  const { items } = await services.table.query({ ...queryOf(pk), Limit: 100 });
  return { issuers: items.map((item) => issuerAnswer(services.baseUrl, item)) };
}

function issuerAnswer(baseUrl: string, item: Item): IssuerAnswer {
  const configured = configuredIssuer(item);
  if (!configured) throw new Error('No issuer');
  return { ...shown(baseUrl, configured), hasSecret: configured.sealedSecret !== undefined };
}

function shown(
  baseUrl: string,
  { id, issuer, clientId }: Pick<ConfiguredIssuer, 'id' | 'issuer' | 'clientId'>,
) {
  return { id, issuer, clientId, redirectUri: issuerRedirectUri(baseUrl, id) };
}

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

function issuerAudit(services: Services, actor: Actor, subtype: Subtype, issuerId: string): Action {
  const entities = [{ ...projectOf(actor), detail: details({ issuer: issuerId }) }];
  return auditAction(services, actor, { subtype, action: 'U', entities });
}

/**
 * The Project trusts an issuer no more: nobody signs in with it from now on, nothing is refreshed, and
 * tokens that were issued end within the hour.
 * @throws {Refusal} not-found
 */
export async function removeIssuer(
  services: Services,
  caller: Caller<'administrator'>,
  { issuerId }: { issuerId: string },
): Promise<void> {
  const { actor } = await admit(services, caller, []);
  if (!isId(issuerId)) throw notFound();
  const actions: Action[] = [
    { name: 'issuer', remove: keys.issuer(caller.project, issuerId), if: 'attribute_exists(pk)' },
    issuerAudit(services, actor, 'remove-issuer', issuerId),
  ];
  await services.table.transact(actions).catch(orThrow(notFound));
}

function notFound(): Refusal {
  return new Refusal('not-found', 'Not found');
}

/** What an issuer answers just now. */
export interface IssuerTest {
  works: boolean;
  /** Why not. */
  problem?: string;
  authorizationEndpoint?: string;
  tokenEndpoint?: string;
}

/**
 * Asks a configured issuer for its discovery document and its keys, as a sign-in would, and nothing from memory.
 * Whether our client is registered there shows only when somebody signs in.
 * @throws {Refusal} not-found
 */
export async function testIssuer(
  services: IssuerServices,
  caller: Caller<'administrator'>,
  { issuerId }: { issuerId: string },
): Promise<IssuerTest> {
  const key = keys.issuer(caller.project, isId(issuerId) ? issuerId : 'none');
  const { found } = await admit(services, caller, [key]);
  const configured = configuredIssuer(found.get(key));
  if (!configured) throw notFound();
  const { web } = services.issuers;
  try {
    const { authorizationEndpoint, tokenEndpoint, jwksUri } = await discover(web, configured.issuer);
    parseKeySet(await web.get(jwksUri));
    return { works: true, authorizationEndpoint, tokenEndpoint };
  } catch (error) {
    if (!(error instanceof IssuerFault)) throw error;
    return { works: false, problem: error.message };
  }
}

/** The event that has the stage trust an issuer for all its Projects, or trust it no more. */
export interface StageIssuerRequest {
  issuer: { issuer: string; clientId: string; clientSecret?: string } | { issuer: string; remove: true };
}

export interface StageIssuer {
  issuer: { id: string; issuer: string; clientId: string; redirectUri: string; removed?: true };
}

/**
 * An issuer of the stage vouches for people in every Project that invites them with it: only whoever runs
 * the stage may say so.
 * @throws {Error} when the request is not valid, or the issuer cannot be reached
 */
export async function stageIssuer(
  services: IssuerServices,
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
  return { issuer: shown(services.baseUrl, { id: item.sk, ...fields }) };
}

async function removeStageIssuer(services: IssuerServices, issuer: string): Promise<StageIssuer> {
  const configured = await findIssuer(services.table, undefined, issuer);
  if (!configured) throw new Error('The stage has no such issuer');
  await services.table.transact([{ name: 'issuer', remove: keys.issuer(undefined, configured.id) }]);
  services.log.info('issuer of the stage removed', { issuerId: configured.id });
  return { issuer: { ...shown(services.baseUrl, configured), removed: true } };
}
