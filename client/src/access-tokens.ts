/** Where calls take their access token from. */
export interface AccessTokens {
  /** A token that lives long enough for a call. */
  get(): Promise<string>;
  /** The service refused this token: the next `get` answers another one. */
  drop(token: string): void;
}

/** A token and how long it lives from now. */
export interface IssuedToken {
  accessToken: string;
  lifetimeSeconds: number;
}

/** A token is replaced this long before it ends, or after half its life if that is less. */
const marginSeconds = 60;

/**
 * Holds a token in memory and fetches the next one when it is near its end. Calls that come
 * meanwhile wait for that one flight; a failed flight fails them all and the next call tries anew.
 * @param first a token that was issued just now
 */
export function cachedTokens(fetchToken: () => Promise<IssuedToken>, first?: IssuedToken): AccessTokens {
  let held = first && holding(first, Date.now());
  let flight: Promise<string> | undefined;
  const renew = async () => {
    try {
      const startedAtMs = Date.now();
      held = holding(await fetchToken(), startedAtMs);
      return held.token;
    } finally {
      flight = undefined;
    }
  };
  return {
    async get() {
      if (held && Date.now() < held.replaceAtMs) return held.token;
      flight ??= renew();
      return flight;
    },
    drop(token) {
      if (held?.token === token) held = undefined;
    },
  };
}

function holding({ accessToken, lifetimeSeconds }: IssuedToken, startedAtMs: number) {
  const usableSeconds = lifetimeSeconds - Math.min(marginSeconds, lifetimeSeconds / 2);
  return { token: accessToken, replaceAtMs: startedAtMs + usableSeconds * 1000 };
}
