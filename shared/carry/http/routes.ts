/** What a route that is not public asks of its caller. */
export type Right = 'member' | 'administrator';

/**
 * Whether a route asks that its caller has signed in lately: a session of a minute, as of a device that was left alone,
 * is not to take or lock an account. `any` never asks. `recent` is refused by `admit`. `shown`: the request itself
 * shows a password, a code or the secret of a mailed link. `depends`: the operation asks by what is sent.
 */
export type SignInRule = 'any' | 'recent' | 'shown' | 'depends';

/**
 * What keeps a route from giving more than its caller holds. `own rights`: its operation compares (`requireWithin`).
 * `root`: `admit` refuses administrators whom a policy narrows. `none`: it gives nothing.
 */
export type Bounds = 'own rights' | 'root' | 'none';

/** A route: one row of the table in functions/routes.ts. */
export interface Row {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ANY';
  /** With `{name}` for one segment and `{name+}` for all that follow; `$default` for whatever is no route. */
  readonly path: string;
  readonly access: 'public' | Right;
  readonly signIn: SignInRule;
  /** Of a route that administers or writes. */
  readonly bounds?: Bounds;
  /** It takes no body: what is in one would be ignored, and is refused. */
  readonly isBare?: boolean;
}

/** The routes of one function, by name. */
export type Rows = Readonly<Record<string, Row>>;

/** The parameters that a path names, decoded. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name extends `${infer Greedy}+` ? Greedy : Name]: string } & PathParams<Rest>
  : Record<never, string>;

/** A row as API Gateway writes it in `event.routeKey`. */
export function routeKey({ method, path }: Pick<Row, 'method' | 'path'>): string {
  return path === '$default' ? path : `${method} ${path}`;
}

export interface MatchedRoute<R extends Row = Row> {
  route: R;
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
export function matchRoute<R extends Row>(
  routes: readonly R[],
  method: string,
  path: string,
): MatchedRoute<R> | undefined {
  const segments = path.split('/');
  const candidates = patternsOf(routes).filter((pattern) => matches(pattern, method, segments));
  const route = candidates.sort(bySpecificity)[0]?.route ?? routes.find(({ path }) => path === '$default');
  if (!route) return undefined;
  return { route, routeKey: routeKey(route), pathParameters: parametersOf(route, segments) };
}

/** A route with its path in segments: a parameter is undefined. */
interface Pattern<R extends Row> {
  route: R;
  segments: readonly (string | undefined)[];
  isGreedy: boolean;
}

/** Taken apart once for each table. */
const known = new WeakMap<readonly Row[], readonly Pattern<Row>[]>();

function patternsOf<R extends Row>(routes: readonly R[]): readonly Pattern<R>[] {
  const patterns =
    (known.get(routes) as readonly Pattern<R>[] | undefined) ??
    routes.map((route) => {
      const parts = route.path.split('/');
      const segments = parts.map((part) => (isParameter(part) ? undefined : part));
      return { route, segments, isGreedy: isGreedy(parts.at(-1)) };
    });
  known.set(routes, patterns);
  return patterns;
}

function matches(
  { route, segments: pattern, isGreedy }: Pattern<Row>,
  method: string,
  segments: readonly string[],
) {
  return (
    (route.method === method || route.method === 'ANY') &&
    (pattern.length === segments.length || (isGreedy && pattern.length < segments.length)) &&
    pattern.every((part, index) => (part === undefined ? segments[index] !== '' : part === segments[index]))
  );
}

function bySpecificity(a: Pattern<Row>, b: Pattern<Row>): number {
  const [left, right] = [openParts(a), openParts(b)];
  const first = left.findIndex((isOpen, index) => isOpen !== right[index]);
  return first < 0 ? 0 : Number(left[first]) - Number(right[first]);
}

function openParts({ segments, route }: Pattern<Row>): boolean[] {
  return [...segments.map((part) => part === undefined), route.method === 'ANY'];
}

function parametersOf(route: Row, segments: readonly string[]): Record<string, string> {
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
