import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { configuredIssuer, issuerRedirectUri } from '../../shared/issuer/issuer-item.ts';
import type { Services } from '../../shared/services.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';

/** An issuer as administrators see it. Its secret is never answered. */
export interface IssuerAnswer {
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
  const { items } = await services.table.query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keys.issuer(caller.project, '').pk },
    Limit: 100,
  });
  return { issuers: items.map((item) => issuerAnswer(services.baseUrl, item)) };
}

export function issuerAnswer(baseUrl: string, item: Item): IssuerAnswer {
  const configured = configuredIssuer(item);
  if (!configured) throw new Error('No issuer');
  const { id, issuer, clientId, sealedSecret } = configured;
  const hasSecret = sealedSecret !== undefined;
  return { id, issuer, clientId, hasSecret, redirectUri: issuerRedirectUri(baseUrl, id) };
}
