/**
 * A path below the service's address, which may have a path of its own.
 * @throws {TypeError} when the address is no URL, or the path leads away from it: calls carry a token
 */
export function serviceUrl(baseUrl: string | URL, path: string): string {
  const base = new URL(String(baseUrl).replace(/\/*$/, '/'));
  const { href } = new URL(path, base);
  if (href.startsWith(base.href)) return href;
  throw new TypeError(`Not below ${base.href}: ${path}`);
}
