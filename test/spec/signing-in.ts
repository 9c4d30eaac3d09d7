import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { mailedLink } from './mailed-link.ts';
import type { Answer, Portico } from './portico.ts';

/** What the specs of people need: members with a password, and the steps from it to a token. */
export interface SigningIn {
  post(path: string, body: unknown, token?: string | null): Promise<Answer>;
  invite(email: string, projectIndex?: number, change?: object): Promise<Answer['json']>;
  /** Somebody new, invited into the first Project and accepted. */
  newMember(change?: object): Promise<{ email: string; membership: string; user: string }>;
  /** The id of a new public app of the first Project. */
  newApp(change?: object): Promise<string>;
  login(email: string, change?: object): Promise<Answer>;
  /** `POST oauth2/token`. */
  ask(parameters: Record<string, string>, headers?: Record<string, string>): Promise<Answer>;
  exchange(code: string, change?: Record<string, string>): Promise<Answer>;
  refresh(refreshToken: string, change?: Record<string, string>): Promise<Answer>;
  /** From password to tokens, for a person with one membership. */
  signIn(email: string, change?: object): Promise<Answer['json']>;
  me(token: string): Promise<Answer>;
}

export const password = 'correct horse battery';
export const newAddress = () => `person-${randomUUID()}@example.com`;
export const codeVerifier = randomBytes(32).toString('base64url');
const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
/** What begins a sign-in with PKCE; `exchange` has its verifier. */
export const pkce = { codeChallenge, codeChallengeMethod: 'S256' };

export function signingIn(portico: Portico): SigningIn {
  const at: SigningIn = {
    post: (path, body, token = null) => portico.api('POST', path, { body, token }),
    async invite(email, projectIndex = 0, change = {}) {
      const of = portico.projects[projectIndex];
      const body = { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', email, ...change };
      const token = await portico.token(of);
      const answer = await portico.api('POST', `admin/projects/${of?.id}/invite`, { body, token });
      expect(answer.status).toBe(200);
      return answer.json;
    },
    async newMember(change = {}) {
      const email = newAddress();
      const { id, user } = await at.invite(email, 0, change);
      const link = await mailedLink(portico, email);
      expect((await at.post('auth/setpassword', { ...link, password })).status).toBe(200);
      return { email, membership: id, user: user.reference.replace('User/', '') };
    },
    async newApp(change = {}) {
      const path = `admin/projects/${portico.projects[0]?.id}/client`;
      const answer = await portico.api('POST', path, { body: { name: 'App', public: true, ...change } });
      expect(answer.status).toBe(201);
      return answer.json.id;
    },
    login: (email, change = {}) =>
      at.post('auth/login', { email, password, ...pkce, clientId: '', ...change }),
    ask: (parameters, headers = {}) =>
      portico.api('POST', 'oauth2/token', {
        token: null,
        body: `${new URLSearchParams(parameters)}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
    exchange: (code, change = {}) =>
      at.ask({ grant_type: 'authorization_code', code, code_verifier: codeVerifier, ...change }),
    refresh: (refreshToken, change = {}) =>
      at.ask({ grant_type: 'refresh_token', client_id: '', refresh_token: refreshToken, ...change }),
    async signIn(email, change = {}) {
      const answer = await at.exchange((await at.login(email, change)).json.code);
      expect(answer.status).toBe(200);
      return answer.json;
    },
    me: (token) => portico.api('GET', 'auth/me', { token }),
  };
  return at;
}
