import type { Route } from '../../functions/routes.ts';

export interface MatchedRoute {
  route: Route;
  /** As in the event: `POST /fhir/R4/{resourceType}`, or `$default`. */
  routeKey: string;
  /** Empty when the path of the route has none. */
  pathParameters: Record<string, string>;
}

/**
 * Chooses the route as an HTTP API does: among those whose method and path match, the one with the
 * first literal segment where the other has a parameter, then a named method before ANY; a `{path+}`
 * takes all that is left; `$default` when none matches.
 * @param path decoded, without query string: an encoded slash separates like a plain one
 */
export function matchRoute(routes: readonly Route[], method: string, path: string): MatchedRoute | undefined {
  const segments = path.split('/');
  const candidates = routes.filter((route) => matches(route, method, segments));
  const route = candidates.sort(bySpecificity)[0] ?? routes.find(({ path }) => path === '$default');
  if (!route) return undefined;
  const routeKey = route.path === '$default' ? route.path : `${route.method} ${route.path}`;
  return { route, routeKey, pathParameters: parametersOf(route, segments) };
}

function matches(route: Route, method: string, segments: readonly string[]): boolean {
  const pattern = route.path.split('/');
  return (
    (route.method === method || route.method === 'ANY') &&
    (pattern.length === segments.length || (isGreedy(pattern.at(-1)) && pattern.length < segments.length)) &&
    pattern.every((part, index) => (isParameter(part) ? segments[index] !== '' : part === segments[index]))
  );
}

function bySpecificity(a: Route, b: Route): number {
  const [left, right] = [a, b].map(({ path, method }) => [
    ...path.split('/').map(isParameter),
    method === 'ANY',
  ]) as [boolean[], boolean[]];
  const first = left.findIndex((isOpen, index) => isOpen !== right[index]);
  return first < 0 ? 0 : Number(left[first]) - Number(right[first]);
}

function parametersOf(route: Route, segments: readonly string[]): Record<string, string> {
  const pairs = route.path.split('/').flatMap((part, index) => {
    if (!isParameter(part)) return [];
    const value = isGreedy(part) ? segments.slice(index).join('/') : segments[index];
    return [[part.replace(/^\{|\+?\}$/g, ''), value ?? '']];
  });
  return Object.fromEntries(pairs);
}

function isGreedy(part = ''): boolean {
  return part.endsWith('+}');
}

function isParameter(part: string): boolean {
  return part.startsWith('{') && part.endsWith('}');
}
