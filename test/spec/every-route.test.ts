import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Route } from '../../functions/routes.ts';
import {
  exampleOf as anExampleOf,
  tokenFor as aTokenFor,
  type ExampleGround,
  exampleGround,
  namedRoutes,
  send as sendTo,
} from './calling-routes.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { type Example, type Examples, loginNobodyKnows, routeExamples } from './route-examples.ts';
import { createClient } from './running.ts';

let portico: Portico;
let ground: ExampleGround;
let examples: Examples;
let ended: string;
let elsewhere: string;
// biome-ignore lint/suspicious/noExplicitAny: the document as JSON
let api: any;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
beforeAll(async () => {
  portico = await startPortico();
  ground = await exampleGround(portico);
  examples = routeExamples(ground);
  api = (await portico.api('GET', 'openapi.json', { token: null })).json;
  ajv.addSchema({ $id: 'api', components: api.components });
  elsewhere = await portico.token(portico.projects[1]);
  const leaving = await createClient(portico);
  ended = leaving.token;
  expect((await portico.api('DELETE', `fhir/R4/ClientApplication/${leaving.id}`)).status).toBe(200);
});
afterAll(() => portico.stop());

const freshExampleOf = (route: Route) => anExampleOf(examples, route);
const kept = new Map<Route, Promise<Example>>();
/** One for all calls that change nothing. */
function exampleOf(route: Route): Promise<Example> {
  const example = kept.get(route) ?? freshExampleOf(route);
  kept.set(route, example);
  return example;
}
async function send(route: Route, example: Example, token: string | null): Promise<Answer> {
  const answer = await sendTo(portico, route, example, token);
  expectGuarded(answer);
  return answer;
}

/** What every answer says to browsers, whatever became of the request. */
function expectGuarded({ headers }: Answer): void {
  expect(headers.get('content-security-policy')).toMatch(/^(sandbox; )?default-src 'none'/);
  expect(headers.get('cache-control')).toMatch(/no-store|no-cache|public/);
  expect(Object.fromEntries(headers)).toMatchObject({
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'x-content-type-options': 'nosniff',
  });
}

const tokenFor = (example: Example) => aTokenFor(ground, example);

/** No text can be made of the first; the last is longer than a key of the table. */
const oddValues = [{ toString: 1 }, [[]], 'x'.repeat(3000)];

/** What was sent with each of its values replaced by odd ones. */
function oddBodies(sent: unknown): unknown[] {
  if (typeof sent !== 'object' || sent === null) return oddValues;
  if (Array.isArray(sent)) return sent.flatMap((one, at) => oddBodies(one).map((odd) => sent.with(at, odd)));
  const fields = Object.entries(sent).filter(([name]) => name !== 'resourceType' && name !== 'sendEmail');
  return fields.flatMap(([name, value]) => oddBodies(value).map((odd) => ({ ...sent, [name]: odd })));
}

const isJson = ({ body }: Example) => typeof body === 'object';

describe('every route', () => {
  const guarded = namedRoutes.filter(({ access }) => access !== 'public');

  test.each(guarded)('$key refuses a call without a token, and one whose login has ended', async (route) => {
    const example = await exampleOf(route);
    for (const token of [null, ended]) {
      const answer = await send(route, example, token);
      expect([answer.status, answer.json.id]).toEqual([401, 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  const administrators = namedRoutes.filter(({ access }) => access === 'administrator');

  test.each(administrators)('$key refuses a member who is no administrator', async (route) => {
    const answer = await send(route, await exampleOf(route), ground.tokens.member);
    expect([answer.status, answer.json.id]).toEqual([403, 'forbidden']);
  });

  const inProject = namedRoutes.filter(({ path }) => path.includes('{projectId}'));

  test.each(inProject)(
    '$key refuses the administrator of another Project, whether or not there is this one',
    async (route) => {
      const { params, ...example } = await exampleOf(route);
      const there = await send(route, { ...example, params: params ?? {} }, elsewhere);
      const nowhere = { ...example, params: { ...params, projectId: loginNobodyKnows.login } };
      expect([there.status, there.json.id]).toEqual([403, 'forbidden']);
      const other = await send(route, nowhere, elsewhere);
      expect([other.status, other.text]).toEqual([there.status, there.text]);
    },
  );

  test.each(namedRoutes)('$key takes no JSON deeper than 128 levels, if it takes any', async (route) => {
    const { body, ...example } = await exampleOf(route);
    if (!isJson({ body, ...example })) return;
    const headers = { 'content-type': 'application/json', ...example.headers };
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const token = route.access === 'public' ? null : ground.tokens.administrator;
    const refused = await send(route, { ...example, headers, body: deep(129) }, token);
    expect([refused.status, refused.json.issue[0].details.text]).toEqual([
      400,
      'JSON deeper than 128 levels',
    ]);
    expect((await send(route, { ...example, headers, body: deep(128) }, token)).text).not.toContain('deeper');
  });

  test.each(namedRoutes)(
    '$key takes every JSON value for a mistake of the caller at worst',
    async (route) => {
      const { body, ...example } = await freshExampleOf(route);
      const token = route.access === 'public' ? null : ground.tokens.administrator;
      const bodies = isJson({ body, ...example }) ? oddBodies(body) : [];
      const answers = await Promise.all(bodies.map((odd) => send(route, { ...example, body: odd }, token)));
      const faults = answers.flatMap(({ status }, i) => (status < 500 ? [] : [[status, bodies[i]]]));
      expect(faults).toEqual([]);
    },
  );

  test.each(namedRoutes)('$key is 400 for who means to act as somebody else', async (route) => {
    const example = await exampleOf(route);
    const headers = { ...example.headers, 'x-medplum-on-behalf-of': ground.person.profile };
    const token = route.access === 'public' ? null : ground.tokens.administrator;
    const answer = await send(route, { ...example, headers }, token);
    expect([answer.status, answer.json.issue[0].details.text]).toEqual([
      400,
      'X-Medplum-On-Behalf-Of is not supported',
    ]);
  });

  test.each(namedRoutes.filter(({ isBare }) => isBare))(
    '$key takes no body, and does nothing where one says something',
    async (route) => {
      const example = await freshExampleOf(route);
      const token = await tokenFor(example);
      for (const body of [{ keepOldHour: 24 }, [], 'form=1']) {
        const answer = await send(route, { ...example, body }, token);
        expect([answer.status, answer.json.issue[0].details.text]).toEqual([
          400,
          'This request takes no body',
        ]);
      }
      expect((await send(route, { ...example, body: {} }, token)).status).toBe(example.status);
    },
  );

  const allOptional = ['rotateSecret', 'changeClient', 'deployBot', 'resend'];

  test.each(namedRoutes.filter(({ name }) => allOptional.includes(name)))(
    '$key does nothing where a member is none that it knows',
    async (route) => {
      const example = await freshExampleOf(route);
      const sent = { ...(isJson(example) ? Object(example.body) : {}), keepOldHour: 24 };
      const answer = await send(route, { ...example, body: sent }, await tokenFor(example));
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['keepOldHour']]);
      expect(answer.json.issue[0].details.text).toBe('keepOldHour is not known here');
    },
  );

  test.each(namedRoutes)('$key answers who may call it', async (route) => {
    const example = await freshExampleOf(route);
    const token = await tokenFor(example);
    const answer = await send(route, example, route.access === 'public' ? null : token);
    expect([answer.status, answer.text]).toEqual([example.status, answer.text]);
    if (route.path !== '$default') expect(undescribed(route, example, answer)).toEqual([]);
  });
});

/** What of a call is not as `/openapi.json` says. */
function undescribed({ path, method }: Route, example: Example, answer: Answer): string[] {
  const {
    parameters = [],
    requestBody,
    responses,
  } = api.paths[path.replace('+}', '}')][method.toLowerCase()];
  const named = new Set(parameters.map(({ name }: { name: string }) => name));
  const isOpen = named.has('<parameter>');
  const query = Object.keys(example.query ?? {}).filter((name) => !named.has(name) && !isOpen);
  const type = (value: string | null | undefined) => value?.split(';')[0] ?? '';
  const sentType = type(example.headers?.['content-type']) || 'application/json';
  const sent = example.body === undefined ? undefined : requestBody?.content[sentType];
  const fits = (schema: object, value: unknown) => {
    const isFit = ajv.validate(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')), value);
    return isFit ? [] : [ajv.errorsText()];
  };
  const response = responses[answer.status];
  const content = response?.content?.[type(answer.headers.get('content-type'))];
  return [
    ...query.map((name) => `parameter ${name}`),
    ...(example.body !== undefined && !sent ? [`body of ${sentType}`] : []),
    ...(sent && isJson(example) ? fits(sent.schema, example.body) : []),
    ...(response ? [] : [`status ${answer.status}`]),
    ...(content?.schema && answer.json ? fits(content.schema, answer.json) : []),
    ...(response?.content && !content ? [`answer of ${answer.headers.get('content-type')}`] : []),
  ];
}
