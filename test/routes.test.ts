import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { allRoutes, functionNames, routesOf, row as rowOf } from '../functions/routes.ts';
import { routeKey, type SignInRule } from '../shared/carry/http/routes.ts';

const isOpen = ({ access }: { access: string }) => access === 'public';

/** What docs/identity.md says of each route: how it asks for a recent sign-in, or that it never does. */
function documentedSignIns(): Map<string, string> {
  const page = readFileSync(resolve(import.meta.dirname, '../docs/identity.md'), 'utf8');
  const [, section = ''] = page.split('## Signed in lately');
  const [asking = '', never = ''] = section.split('These never ask anybody:');
  const words: [RegExp, SignInRule][] = [
    [/^always/, 'recent'],
    [/^when /, 'depends'],
    [/^in the request/, 'shown'],
  ];
  return new Map([
    ...[...asking.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(
      ([, route = '', said = '']): [string, string] => [
        route,
        words.find(([pattern]) => pattern.test(said))?.[1] ?? said,
      ],
    ),
    ...[...(never.split('\n### ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(
      ([, route = '']): [string, string] => [route, 'any'],
    ),
  ]);
}

describe('the route table', () => {
  test('says of each route that writes how it asks for a recent sign-in, and so does the documentation', () => {
    const said = allRoutes.filter(({ method, signIn }) => method !== 'GET' || signIn !== 'any');
    expect(Object.fromEntries(documentedSignIns())).toEqual(
      Object.fromEntries(said.map((route) => [routeKey(route), route.signIn])),
    );
  });

  test('takes no row that writes and says nothing of it', () => {
    // Never run: the compiler is the test.
    const wrong = () => {
      // @ts-expect-error how lately its caller must have signed in is missing
      rowOf('member')('POST', '/things', { bounds: 'none' });
      // @ts-expect-error of nobody who is known no sign-in is asked for
      rowOf('public')('POST', '/things', { signIn: 'recent' });
    };
    expect(wrong).toBeInstanceOf(Function);
  });

  test('has no row and no name twice', () => {
    expect(new Set(allRoutes.map(routeKey)).size).toBe(allRoutes.length);
    expect(new Set(allRoutes.map(({ name }) => name)).size).toBe(allRoutes.length);
  });

  test('gives who is signed in functions of their own: what anybody may send does not take their places', () => {
    const mixed = functionNames.filter((name) => new Set(routesOf(name).map(isOpen)).size > 1);
    // Beside the FHIR API there is what it can do, and whatever is no route: answered from memory.
    expect(mixed).toEqual(['resources']);
    expect(routesOf('resources').filter(isOpen).map(routeKey)).toEqual(['GET /fhir/R4/metadata', '$default']);
  });

  test('leaves nothing under admin/ to anybody', () => {
    const admin = allRoutes.filter(({ path }) => path.startsWith('/admin/'));
    expect(admin.filter(({ access }) => access !== 'administrator').map(({ name }) => name)).toEqual([
      // Whoever it is may leave a Project.
      'removeMember',
    ]);
  });

  test('says of each route that administers or writes resources what docs/access-policies.md says', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../docs/access-policies.md'), 'utf8');
    const said = [...page.matchAll(/^\| (`[A-Z]+ .*?`) \| (own rights|root|none) \| .+ \|$/gm)].flatMap(
      ([, named = '', bounds = '']) =>
        [...named.matchAll(/`([^`]+)`/g)].map(([, route = '']) => `${route}: ${bounds}`),
    );
    const asked = allRoutes.filter(
      ({ access, bounds, method, path }) =>
        access === 'administrator' ||
        bounds !== 'none' ||
        (method === 'DELETE' && /members|\{resourceType/.test(path)),
    );
    const written = asked.map(({ method, path, bounds }) => {
      const short = path.replace('/admin/projects/{projectId}/', '…/').replace(/^\//, '');
      return `${method} ${short}: ${bounds}`;
    });
    expect(said.sort()).toEqual(written.sort());
  });
});
