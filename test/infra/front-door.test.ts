import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allRoutes } from '../../functions/routes.ts';
import { routeKey } from '../../shared/carry/http/routes.ts';
import { frontOf } from '../../shared/carry/keys/origin-secret.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat } from '../spec/running.ts';

const secrets = ['a'.repeat(48), 'b'.repeat(48)] as const;
const outside = 'This API is reached by its own name only';

let portico: Portico;
let token: string;

/** The local stack as it is behind a front: the test gives the proof, as CloudFront would. */
beforeAll(async () => {
  process.env.ORIGIN_SECRETS = secrets.join();
  portico = await startPortico({});
  const [client] = portico.projects;
  const body = new URLSearchParams({
    ...{ grant_type: 'client_credentials', client_id: client?.clientId ?? '' },
    client_secret: client?.clientSecret ?? '',
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...through(secrets[0]) };
  token = (await portico.api('POST', 'oauth2/token', { token: null, body: body.toString(), headers })).json
    .access_token;
});
afterAll(async () => {
  delete process.env.ORIGIN_SECRETS;
  await portico?.stop();
});

const through = (secret: string) => ({ 'x-portico-origin': secret });
const routes = allRoutes.map((route) => ({ ...route, key: routeKey(route) }));
const addresses = [
  ...routes.map(({ key, method, path }) => ({
    key,
    method: method === 'ANY' ? 'GET' : method,
    path: path === '$default' ? '/no/such/path' : path.replaceAll(/\{\w+\+?\}/g, 'x'),
  })),
  { key: 'a path that leads to another', method: 'POST', path: '/auth/login/' },
  { key: 'HEAD', method: 'HEAD', path: '/fhir/R4/metadata' },
];

describe('behind a front', () => {
  it.each(addresses)('$key answers nobody who comes round it', async ({ method, path }) => {
    for (const headers of [
      {},
      through(''),
      through(secrets[0].slice(1)),
      through(`${secrets[0]},${secrets[1]}`),
    ]) {
      const answer = await portico.api(method, path.slice(1), { token, headers });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f-]{32,36}$/);
      if (method !== 'HEAD')
        expect(answer.json).toMatchObject({
          id: 'forbidden',
          issue: [{ code: 'forbidden', details: { text: outside } }],
        });
    }
  });

  it.each(addresses)(
    '$key answers who comes through it, by the one secret and the other',
    async ({ method, path }) => {
      for (const secret of secrets) {
        const answer = await portico.api(method, path.slice(1), { token: null, headers: through(secret) });
        expect(answer.text).not.toContain(outside);
        if (method === 'HEAD') expect(answer.status).toBe(200);
      }
    },
  );

  it('gives a Bot the headers of its caller without the proof', async () => {
    const proven: Portico = {
      ...portico,
      token: async () => token,
      api: (method, path, call = {}) =>
        portico.api(method, path, { token, ...call, headers: { ...call.headers, ...through(secrets[1]) } }),
    };
    const bot = await botThat(proven, 'return event.headers');
    const { json } = await proven.api('POST', `fhir/R4/Bot/${bot}/$execute`, {
      headers: { 'x-own': 'mine' },
    });
    expect(json).toMatchObject({ 'x-own': 'mine' });
    expect(JSON.stringify(json)).not.toMatch(/x-portico-origin|bbbb/);
  });
});

it('a stage without a front asks for nothing, and a reference that was not resolved lets nobody start', () => {
  expect(frontOf({})).toEqual({});
  expect(() => frontOf({ ORIGIN_SECRETS: '{{resolve:secretsmanager:portico}}' })).toThrow('holds no secrets');
});
