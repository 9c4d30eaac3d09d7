import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { botThat } from '../spec/running.ts';
import { type App, describeInBrowser, startApp } from '../web/app.ts';

/** What a Bot got, as seen from a browser that used the library. */
interface Got {
  contentType: string;
  type: string;
  input: unknown;
}

describeInBrowser('@portico/client in Chromium', () => {
  let app: App;
  let page: Page;
  let botId: string;
  const identifier = { system: 'https://example.org/bots', value: 'a b|c&d+é' };

  beforeAll(async () => {
    app = await startApp();
    const code = `
      if (event.input?.header) return event.input.buildAck();
      return { contentType: event.contentType, type: typeof event.input, input: event.input };`;
    botId = await botThat(app.portico, code, { identifier: [identifier] });
    const { outputFiles } = await build({
      entryPoints: [new URL('../../client/src/index.ts', import.meta.url).pathname],
      bundle: true,
      format: 'iife',
      globalName: 'client',
      write: false,
    });
    page = await app.open('desktop');
    await page.goto('/app');
    await page.evaluate(`${outputFiles[0]?.text}; globalThis.client = client`);
    await page.evaluate(
      `globalThis.portico = client.createPortico({ baseUrl: location.origin, auth: ${JSON.stringify(await app.portico.token())} })`,
    );
  });
  afterAll(() => app?.stop());

  /** Runs an expression in the page. */
  const run = <Result>(expression: string) => page.evaluate(expression) as Promise<Result>;
  const execute = (args: string) => run<Got>(`portico.executeBot(${JSON.stringify(botId)}, ${args})`);

  test.each<[string, string, unknown]>([
    ['0', 'application/json', 0],
    ['false', 'application/json', false],
    ['null', 'application/json', null],
    ['""', 'text/plain', ''],
    ['"", "application/json"', 'application/json', ''],
    ['"hello"', 'text/plain', 'hello'],
    ['{ a: [1] }', 'application/json', { a: [1] }],
    ['{ resourceType: "Patient" }', 'application/fhir+json', { resourceType: 'Patient' }],
    [
      'new URLSearchParams({ a: "b c", d: "é&" })',
      'application/x-www-form-urlencoded',
      { a: 'b c', d: 'é&' },
    ],
    ['new Blob(["blob"], { type: "text/plain" })', 'text/plain', 'blob'],
    ['new TextEncoder().encode("bytes"), "text/plain"', 'text/plain', 'bytes'],
  ])('%s arrives as what it is', async (input, contentType, value) => {
    expect(await execute(input)).toEqual({ contentType, type: typeof value, input: value });
  });

  test('HL7 v2 is answered as text', async () => {
    const message = 'MSH|^~\\\\&|A|B|C|D|20260101||ADT^A01|42|P|2.5.1\\r';
    expect(await execute(`'${message}', 'x-application/hl7-v2+er7'`)).toMatch(/\rMSA\|AA\|42/);
  });

  test('an identifier with everything in it finds its Bot', async () => {
    const got = await run<Got>(`portico.executeBot(${JSON.stringify(identifier)}, 'x')`);
    expect(got.input).toBe('x');
  });

  test('a refusal is a typed error, one request and no other', async () => {
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    const refused = await run<object>(`portico.invite('${app.portico.projects[0]?.id}', {
      resourceType: 'Patient', firstName: 'A', lastName: 'B', email: 'nobody' }).catch((error) => ({
        isTyped: error instanceof client.OperationOutcomeError,
        status: error.status,
        fields: error.outcome.issue.map(({ expression }) => expression[0]),
      }))`);
    expect(refused).toEqual({ isTyped: true, status: 400, fields: ['email'] });
    expect(sent).toHaveLength(1);
  });

  test('a person signs in with PKCE and refreshes', async () => {
    const { email, password } = app.portico.projects[0]?.admin ?? {};
    const seen = await run<object>(`(async () => {
      const baseUrl = location.origin;
      const { codeVerifier, ...challenge } = await client.newPkce();
      const request = { baseUrl, email: '${email}', password: '${password}', scope: 'openid offline_access' };
      const step = await client.signIn({ ...request, ...challenge });
      const first = await client.exchangeCode({ baseUrl, code: step.code, codeVerifier });
      const auth = client.refreshingTokens({ baseUrl, tokens: { refreshToken: first.refreshToken } });
      const token = await auth.get();
      const answer = await client.createPortico({ baseUrl, auth }).fetch('auth/me');
      return { isNew: token !== first.accessToken, admin: (await answer.json()).membership.admin };
    })()`);
    expect(seen).toEqual({ isNew: true, admin: true });
  });
});
