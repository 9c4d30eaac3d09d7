import type { Route } from '../../../functions/routes.ts';
import { routeKey } from '../../../shared/http/row.ts';

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
  const candidates = patternsOf(routes).filter((pattern) => matches(pattern, method, segments));
  const route = candidates.sort(bySpecificity)[0]?.route ?? routes.find(({ path }) => path === '$default');
  if (!route) return undefined;
  return { route, routeKey: routeKey(route), pathParameters: parametersOf(route, segments) };
}

/** A route with its path in segments: a parameter is undefined. */
interface Pattern {
  route: Route;
  segments: readonly (string | undefined)[];
  isGreedy: boolean;
}

/** Taken apart once for each table. */
const known = new WeakMap<readonly Route[], readonly Pattern[]>();

function patternsOf(routes: readonly Route[]): readonly Pattern[] {
  const patterns =
    known.get(routes) ??
    routes.map((route) => {
      const parts = route.path.split('/');
      const segments = parts.map((part) => (isParameter(part) ? undefined : part));
      return { route, segments, isGreedy: isGreedy(parts.at(-1)) };
    });
  known.set(routes, patterns);
  return patterns;
}

function matches(
  { route, segments: pattern, isGreedy }: Pattern,
  method: string,
  segments: readonly string[],
) {
  return (
    (route.method === method || route.method === 'ANY') &&
    (pattern.length === segments.length || (isGreedy && pattern.length < segments.length)) &&
    pattern.every((part, index) => (part === undefined ? segments[index] !== '' : part === segments[index]))
  );
}

function bySpecificity(a: Pattern, b: Pattern): number {
  const [left, right] = [a, b].map(({ segments, route }) => [
    ...segments.map((part) => part === undefined),
    route.method === 'ANY',
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
