/**
 * An id as one segment of a path. URLs resolve `.` and `..` even percent-encoded, so such an id
 * would name another resource: it is refused, as is an empty one.
 * @throws {TypeError}
 */
export function pathSegment(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError(`Not an id: ${JSON.stringify(id)}`);
  return encodeURIComponent(id);
}
