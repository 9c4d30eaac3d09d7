import { describe, expect, test } from '@jest/globals';
import { allRoutes, type Route } from '../../functions/routes.ts';
import { matchRoute } from '../../shared/carry/http/routes.ts';

const table = [...allRoutes];

describe('the route table', () => {
  test.each([
    ['POST', '/fhir/R4/Bot/$execute', 'POST /fhir/R4/Bot/$execute', {}],
    ['POST', '/fhir/R4/Bot/123/$execute', 'POST /fhir/R4/Bot/{id}/$execute', { id: '123' }],
    ['POST', '/fhir/R4/Bot/a b|ü/$execute', 'POST /fhir/R4/Bot/{id}/$execute', { id: 'a b|ü' }],
    ['POST', '/fhir/R4/Bot/../$execute', 'POST /fhir/R4/Bot/{id}/$execute', { id: '..' }],
    ['GET', '/fhir/R4/Patient/1', 'GET /fhir/R4/{resourceType}/{id}', { resourceType: 'Patient', id: '1' }],
    [
      'GET',
      '/fhir/R4/Bot/$execute',
      'GET /fhir/R4/{resourceType}/{id}',
      { resourceType: 'Bot', id: '$execute' },
    ],
    ['POST', '/admin/projects/p/invite', 'POST /admin/projects/{projectId}/invite', { projectId: 'p' }],
    ['GET', '/.well-known/jwks.json', 'GET /.well-known/jwks.json', {}],
    ['POST', '/oauth2/token', 'POST /oauth2/token', {}],
    ['GET', '/', 'GET /', {}],
    ['GET', '/app', 'GET /app', {}],
    ['GET', '/app/accept', 'GET /app/{path+}', { path: 'accept' }],
    ['GET', '/app/assets/a b/c', 'GET /app/{path+}', { path: 'assets/a b/c' }],
  ])('%s %s → %s', (method, path, routeKey, pathParameters) => {
    expect(matchRoute(table, method, path)).toMatchObject({ routeKey, pathParameters });
  });

  test.each([
    ['POST', '/'],
    ['GET', ''],
    ['GET', '/oauth2/token'],
    ['GET', '/fhir/R4/Bot/123/$execute'],
    ['POST', '/fhir/R4/Bot//$execute'],
    ['POST', '/oauth2/token/'],
    ['POST', '/OAuth2/token'],
    ['POST', '/fhir/R4/Bot/a/b/$execute'],
    ['TRACE', '/x'],
    ['GET', '/$default'],
    ['GET', '/app/'],
    ['GET', '/apple'],
  ])('%s %s → $default', (method, path) => {
    expect(matchRoute(table, method, path)).toMatchObject({ routeKey: '$default', pathParameters: {} });
  });
});

describe('precedence', () => {
  const route = (method: Route['method'], path: string): Route => ({
    name: path,
    method,
    path,
    function: 'resources',
    access: 'member',
    signIn: 'any',
  });
  const keyOf = (list: Route[], method: string, path: string) => matchRoute(list, method, path)?.routeKey;

  test('a literal segment wins over a parameter, from left to right, in any order of the table', () => {
    const list = [route('GET', '/{a}/y'), route('GET', '/x/{b}'), route('GET', '/{a}/{b}')];
    for (const order of [list, list.toReversed()]) {
      expect(keyOf(order, 'GET', '/x/y')).toBe('GET /x/{b}');
      expect(keyOf(order, 'GET', '/z/y')).toBe('GET /{a}/y');
      expect(keyOf(order, 'GET', '/z/z')).toBe('GET /{a}/{b}');
    }
  });

  test('a method wins over ANY, a more literal ANY over a method', () => {
    const list = [route('ANY', '/x'), route('GET', '/x'), route('GET', '/{a}')];
    expect(keyOf(list, 'GET', '/x')).toBe('GET /x');
    expect(keyOf(list, 'PUT', '/x')).toBe('ANY /x');
    expect(keyOf(list.slice(0, 1).concat(list.slice(2)), 'GET', '/x')).toBe('ANY /x');
  });

  test('nothing matches a table without $default', () => {
    expect(matchRoute([route('GET', '/x')], 'GET', '/y')).toBeUndefined();
  });
});
