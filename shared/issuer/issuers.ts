import type { JWTPayload, JWTVerifyOptions } from 'jose';
import { type Discovery, discover } from './discovery.ts';
import type { IssuerWeb } from './issuer-web.ts';
import { isUnknownKey, parseKeySet, verifySigned } from './key-set.ts';
import { remembered } from './remembered.ts';

/** Other people's signing keys, kept in memory for a bounded time. */
export interface Issuers {
  web: IssuerWeb;
  /** @throws {IssuerFault} */
  discover(issuer: string): Promise<Discovery>;
  /**
   * Verifies with the keys behind a URL, fetched once more when none of them fits.
   * @throws {IssuerFault} when the keys cannot be had
   * @throws {TokenFault}
   */
  verify(
    jwksUri: string,
    token: string,
    options: JWTVerifyOptions,
  ): Promise<{ payload: JWTPayload; typ: string | undefined }>;
}

const lifetimeMs = 10 * 60_000;
/** However many tokens name keys that do not exist. */
const restMs = 30_000;

/** @param now ms since the epoch */
export function openIssuers(web: IssuerWeb, now: () => number): Issuers {
  const discoveries = remembered((issuer) => discover(web, issuer), { now, lifetimeMs, restMs });
  const keySets = remembered(async (url) => parseKeySet(await web.get(url)), { now, lifetimeMs, restMs });
  return {
    web,
    discover: discoveries.get,
    async verify(jwksUri, token, options) {
      const known = await keySets.get(jwksUri);
      try {
        return await verifySigned(token, known, options);
      } catch (error) {
        if (!isUnknownKey(error)) throw error;
        const renewed = await keySets.renew(jwksUri);
        if (renewed === known) throw error;
        return verifySigned(token, renewed, options);
      }
    },
  };
}
