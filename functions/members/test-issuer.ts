import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { discover } from '../../shared/issuer/discovery.ts';
import { configuredIssuer } from '../../shared/issuer/issuer-item.ts';
import { IssuerFault } from '../../shared/issuer/issuer-web.ts';
import { parseKeySet } from '../../shared/issuer/key-set.ts';
import { Refusal } from '../../shared/refusal.ts';
import { keys } from '../../shared/table/keys.ts';
import type { IssuerServices } from './add-issuer.ts';

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
  if (!configured) throw new Refusal('not-found', 'Not found');
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
