const longest = 255;
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * An issuer as OpenID Connect Discovery 1.0 section 3 writes it: https, no query, no fragment.
 * @param onLoopback whether http on this machine is good too: where issuers are configured, on a laptop only
 */
export function isIssuerUrl(value: unknown, { onLoopback }: { onLoopback: boolean }): value is string {
  if (typeof value !== 'string' || value.length > longest || /[?#\s\\]/.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && isWebUrl(url, { onLoopback });
}

/** https, or http on loopback where that is allowed; never with credentials inside. */
export function isWebUrl(url: URL, { onLoopback }: { onLoopback: boolean }): boolean {
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (onLoopback && url.protocol === 'http:' && isLoopback(url));
}

export function isLoopback({ hostname }: URL): boolean {
  return loopback.has(hostname);
}
