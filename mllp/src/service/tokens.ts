import { type AccessTokens, cachedTokens } from '../../../client/src/access-tokens.ts';
import { requestTokens } from '../../../client/src/token-request.ts';

export interface Credentials {
  /** The service's address. */
  service: string;
  clientId: string;
  /** Read for each token, so that a rotated secret needs no restart. */
  readSecret(): Promise<string>;
}

/** A token that could not be had: the call that needed it was never sent. */
export class NoToken extends Error {
  override readonly name = 'NoToken';
}

/** The client replaces a token a minute before it ends; looked at more often, it is never late. */
const lookEveryMs = 20_000;
/** A token endpoint that does not answer fails those who wait, and the next one tries anew. */
const mostMs = 15_000;

/** The client's own token (RFC 6749 section 4.4). `get` rejects with NoToken. */
export function clientTokens({ service, clientId, readSecret }: Credentials): AccessTokens {
  const tokens = cachedTokens(async () => {
    const request = requestTokens(service, {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: await readSecret(),
    });
    return within(request, mostMs);
  });
  return {
    get: () =>
      tokens.get().catch((cause: Error) => {
        throw new NoToken(cause.message, { cause });
      }),
    drop: tokens.drop,
  };
}

/**
 * Replaces the token before a message needs it.
 * @param told whether there is one now
 * @returns what ends it
 */
export function keepFresh(tokens: AccessTokens, told: (error: NoToken | undefined) => void): () => void {
  const look = () =>
    tokens.get().then(
      () => told(undefined),
      (error: NoToken) => told(error),
    );
  void look();
  const timer = setInterval(look, lookEveryMs).unref();
  return () => clearInterval(timer);
}

async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The token endpoint does not answer')), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
