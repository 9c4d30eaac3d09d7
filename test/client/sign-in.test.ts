import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Bundle } from '@medplum/fhirtypes';
import {
  createPortico,
  exchangeCode,
  newPkce,
  OAuthError,
  OperationOutcomeError,
  refreshingTokens,
  type SignInStep,
  signIn,
} from '../../client/src/index.ts';
import { mailedLink } from '../spec/mailed-link.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { type Loopback, startLoopback } from './loopback.ts';

const password = 'correct horse battery';

describe('against the service', () => {
  let service: Portico;
  beforeAll(async () => {
    service = await startPortico();
  });
  afterAll(() => service.stop());

  async function newMember(): Promise<string> {
    const email = `${randomUUID()}@example.org`;
    const body = { resourceType: 'Practitioner', firstName: 'A', lastName: 'B', email };
    await service.api('POST', `admin/projects/${service.projects[0]?.id}/invite`, { body });
    const link = await mailedLink(service, email);
    await service.api('POST', 'auth/setpassword', { body: { ...link, password }, token: null });
    return email;
  }

  test('a person signs in and calls the API', async () => {
    const { baseUrl } = service;
    const { codeVerifier, ...challenge } = await newPkce();
    const step = await signIn({ baseUrl, email: await newMember(), password, ...challenge });
    expect(step.kind).toBe('code');
    const tokens = await exchangeCode({ baseUrl, code: codeOf(step), codeVerifier });
    const portico = createPortico({ baseUrl, auth: refreshingTokens({ baseUrl, tokens }) });
    const me = await (await portico.fetch('auth/me')).json();
    expect(me).toMatchObject({ membership: { active: true } });
    const bundle = (await (await portico.fetch('fhir/R4/Practitioner?_count=1')).json()) as Bundle;
    const next = bundle.link?.find(({ relation }) => relation === 'next')?.url ?? '';
    expect((await portico.fetch(next)).status).toBe(200);
  });

  test('a wrong password is an OperationOutcomeError, a wrong verifier an OAuthError', async () => {
    const { baseUrl } = service;
    const email = await newMember();
    const { codeVerifier: _, ...challenge } = await newPkce();
    const request = { baseUrl, email, ...challenge };
    await expect(signIn({ ...request, password: 'wrong one' })).rejects.toBeInstanceOf(OperationOutcomeError);
    const code = codeOf(await signIn({ ...request, password }));
    const { codeVerifier } = await newPkce();
    await expect(exchangeCode({ baseUrl, code, codeVerifier })).rejects.toMatchObject({
      name: 'OAuthError',
      code: 'invalid_grant',
    });
  });
});

describe('step by step', () => {
  let server: Loopback;
  const json = (body: object) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  beforeAll(async () => {
    server = await startLoopback();
  });
  afterAll(() => server.stop());

  const begin = () =>
    signIn({
      baseUrl: server.baseUrl,
      email: 'e',
      password: 'p',
      codeChallenge: 'c',
      codeChallengeMethod: 'S256',
    });
  const sent = () => server.received.map(({ url, body }) => [url, JSON.parse(String(body))]);

  test('a second factor, then a choice, then a code', async () => {
    server.answer(json({ login: 'l', mfaRequired: true }));
    const factor = await begin();
    if (factor.kind !== 'second-factor') throw new Error(factor.kind);
    server.answer(json({ login: 'l', memberships: [{ id: 'm', project: {}, profile: {} }] }));
    const choice = await factor.verify('123456');
    expect(sent()).toEqual([['/auth/mfa/verify', { login: 'l', token: '123456' }]]);
    if (choice.kind !== 'choose') throw new Error(choice.kind);
    server.answer(json({ login: 'l', code: 'c' }));
    expect(await choice.choose('m')).toEqual({ kind: 'code', code: 'c' });
    expect(sent()).toEqual([['/auth/profile', { login: 'l', profile: 'm' }]]);
  });

  test('a second factor that is not there yet', async () => {
    server.answer(
      json({ login: 'l', mfaEnrollRequired: true, enrollUri: 'otpauth://x', enrollQrCode: 'data:y' }),
    );
    const step = await begin();
    if (step.kind !== 'enroll-second-factor') throw new Error(step.kind);
    expect([step.uri, step.qrCode]).toEqual(['otpauth://x', 'data:y']);
    server.answer(json({ login: 'l', code: 'c', recoveryCodes: ['AAAA-BBBB'] }));
    expect(await step.enroll('1')).toEqual({ kind: 'code', code: 'c', recoveryCodes: ['AAAA-BBBB'] });
    expect(sent()).toEqual([['/auth/mfa/login-enroll', { login: 'l', token: '1' }]]);
  });

  test('what it does not know is said', async () => {
    server.answer(json({ login: 'l', somethingNew: true }));
    await expect(begin()).rejects.toBeInstanceOf(TypeError);
  });
});

describe('tokens of a person', () => {
  let server: Loopback;
  beforeAll(async () => {
    server = await startLoopback();
  });
  afterAll(() => server.stop());

  const issue = (n: number, expires_in: number) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ access_token: `a${n}`, refresh_token: `r${n}`, expires_in }),
  });

  test('are refreshed once by calls that come together, and each refresh token is used once', async () => {
    let issued = 0;
    server.answer(() => issue(++issued, issued < 3 ? 0 : 3600));
    const seen: (string | undefined)[] = [];
    const tokens = refreshingTokens({
      baseUrl: server.baseUrl,
      tokens: { refreshToken: 'r0' },
      onTokens: ({ refreshToken }) => seen.push(refreshToken),
    });
    expect(await Promise.all([tokens.get(), tokens.get(), tokens.get()])).toEqual(['a1', 'a1', 'a1']);
    expect(await tokens.get()).toBe('a2');
    expect(await tokens.get()).toBe('a3');
    expect(await tokens.get()).toBe('a3');
    expect(server.received.map(({ body }) => new URLSearchParams(String(body)).get('refresh_token'))).toEqual(
      ['r0', 'r1', 'r2'],
    );
    expect(seen).toEqual(['r1', 'r2', 'r3']);
  });

  test('end with an OAuthError when there is nothing to refresh them with', async () => {
    const first = { accessToken: 'a', lifetimeSeconds: 3600, refreshToken: undefined, idToken: undefined };
    const tokens = refreshingTokens({ baseUrl: server.baseUrl, tokens: { ...first, scope: 'openid' } });
    expect(await tokens.get()).toBe('a');
    tokens.drop('a');
    await expect(tokens.get()).rejects.toBeInstanceOf(OAuthError);
  });

  test('go to the service only', async () => {
    const portico = createPortico({ baseUrl: `${server.baseUrl}/below`, auth: 'secret' });
    server.answer({ status: 200 });
    for (const path of [
      'https://example.org/x',
      '//example.org/x',
      '/x',
      '../x',
      `${server.baseUrl}/other`,
    ]) {
      await expect(portico.fetch(path)).rejects.toBeInstanceOf(TypeError);
    }
    expect(server.received).toEqual([]);
    await portico.fetch('x?y=1', { method: 'PUT', body: { a: 1 }, headers: { 'if-match': 'W/"1"' } });
    expect(server.received).toMatchObject([
      {
        method: 'PUT',
        url: '/below/x?y=1',
        headers: { 'if-match': 'W/"1"', authorization: 'Bearer secret' },
      },
    ]);
  });
});

test('PKCE: the challenge is the SHA-256 of a verifier that nobody has seen', async () => {
  const pairs = await Promise.all(Array.from({ length: 50 }, newPkce));
  for (const { codeVerifier, codeChallenge } of pairs) {
    expect(codeVerifier).toMatch(/^[\w-]{43}$/);
    expect(codeChallenge).toBe(createHash('sha256').update(codeVerifier).digest('base64url'));
  }
  expect(new Set(pairs.map(({ codeVerifier }) => codeVerifier)).size).toBe(50);
});

function codeOf(step: SignInStep): string {
  if (step.kind !== 'code') throw new Error(step.kind);
  return step.code;
}
