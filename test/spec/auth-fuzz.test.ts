import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Route, routesOf } from '../../functions/routes.ts';
import fc from '../setup/fast-check.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { projectOf } from './running.ts';
import { type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
/** Values that lead deep into the code, beside those that lead nowhere. */
const good: string[] = [];

beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  const clientId = await at.newApp({ redirectUris: ['https://app.example.org/'] });
  const { email } = await at.newMember();
  const scope = 'openid offline_access launch/patient';
  const { json } = await at.login(email, { clientId, scope });
  const tokens = (await at.exchange(json.code, { client_id: clientId })).json;
  const { clientId: own, clientSecret } = projectOf(portico, 0);
  good.push(...[clientId, email, scope, json.code, json.login, own, clientSecret]);
  good.push(...[tokens.access_token, tokens.refresh_token, tokens.id_token, 'https://app.example.org/']);
});
afterAll(() => portico.stop());

const open = [...routesOf('login'), ...routesOf('token')].filter(({ access }) => access === 'public');
const forms = new Set(['token', 'introspect', 'revoke', 'endSessionByPost']);

const names = [
  ...['email', 'password', 'clientId', 'projectId', 'scope', 'codeChallenge', 'codeChallengeMethod', 'nonce'],
  ...[
    'redirectUri',
    'remember',
    'login',
    'profile',
    'patient',
    'token',
    'id',
    'secret',
    'state',
    '__proto__',
  ],
  ...['grant_type', 'code', 'code_verifier', 'refresh_token', 'client_id', 'client_secret', 'redirect_uri'],
  ...['client_assertion', 'client_assertion_type', 'subject_token', 'subject_token_type', 'membership_id'],
  ...['id_token_hint', 'post_logout_redirect_uri', 'response_type', 'launch', 'aud', 'issuer', 'constructor'],
];
const values = [
  ...[
    'authorization_code',
    'refresh_token',
    'client_credentials',
    'S256',
    'plain',
    'openid',
    'launch',
    'none',
  ],
  ...[
    'urn:ietf:params:oauth:grant-type:token-exchange',
    'a.b.c',
    'run.a.b',
    '../x',
    '%',
    '\u0000',
    '\ud800',
    '',
  ],
];

const text = fc.oneof(
  fc.constantFrom(...values),
  fc.nat(100).map((n) => good[n % good.length] ?? ''),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const fields = fc.dictionary(fc.constantFrom(...names), text, { maxKeys: 8 });
const json = fc.oneof(
  fc.dictionary(fc.constantFrom(...names), fc.oneof(text, fc.jsonValue({ maxDepth: 3 })), { maxKeys: 8 }),
  fc.jsonValue({ maxDepth: 3 }),
);

function send(route: Route, given: unknown, parameters: Record<string, string>): Promise<Answer> {
  const form = `${new URLSearchParams(parameters)}`;
  const path = route.path
    .slice(1)
    .replace(/\{\w+\}/g, () => encodeURIComponent((parameters.id ?? 'x').toWellFormed()));
  const method = route.method as 'GET' | 'POST';
  if (method === 'GET') return portico.api(method, `${path}?${form}`, { token: null });
  const [body, type] = forms.has(route.name)
    ? [form, 'application/x-www-form-urlencoded']
    : [JSON.stringify(given), 'application/json'];
  return portico.api(method, path, { token: null, body, headers: { 'content-type': type } });
}

test.each(open.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s answers whatever it is sent, without a fault',
  async (_, route) => {
    await fc.assert(
      fc.asyncProperty(json, fields, async (given, parameters) => {
        const answer = await send(route, given, parameters);
        expect([answer.status < 500, answer.status, answer.text]).toEqual([true, answer.status, answer.text]);
        expect(answer.text).not.toMatch(/\bat .*\.ts:\d+/);
      }),
      { numRuns: 40 },
    );
  },
  120_000,
);
