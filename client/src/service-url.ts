/**
 * A path below the service's address, which may have a path of its own.
 * @throws {TypeError} when the address is no URL
 */
export function serviceUrl(baseUrl: string | URL, path: string): string {
  return new URL(path, String(baseUrl).replace(/\/*$/, '/')).href;
}
