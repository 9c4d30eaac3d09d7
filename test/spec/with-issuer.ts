import { expect } from '@jest/globals';
import { Browser } from '../issuer/browser.ts';
import { mailedLink } from './mailed-link.ts';
import type { Answer, Portico } from './portico.ts';
import { newAddress, pkce, signingIn } from './signing-in.ts';

/** What the specs of external issuers need: an issuer configured, people invited for it, and their way in. */
export interface WithIssuer {
  configure(body: object, projectIndex?: 0 | 1): Promise<Answer>;
  /** Somebody new whose membership names the issuer. */
  invite(issuer: string, change?: object, projectIndex?: 0 | 1): Promise<Invited>;
  /** What a browser opens to sign in. */
  startUrl(issuer: string, change?: Record<string, string>, projectIndex?: 0 | 1): string;
  /** Posts the link; the browser that goes on from there has the cookie. */
  accept(browser: Browser, link: object, change?: object): Promise<Answer>;
  /** Accepts through the issuer, at which the subject is signed in. */
  join(issuer: string, change?: object, projectIndex?: 0 | 1): Promise<Invited & { back: URL }>;
  /** Where the issuer has led to. */
  signIn(issuer: string, change?: Record<string, string>, projectIndex?: 0 | 1): Promise<URL>;
  /** Begins a sign-in anew for the login of a token; the browser that goes on from there has the cookie. */
  begin(browser: Browser, token: string): Promise<Answer>;
  /** An access token for the code that came back. */
  tokenFor(back: URL): Promise<Answer>;
  appUri: string;
}

export interface Invited {
  email: string;
  membership: string;
  user: string;
  link: { id: string; secret: string };
}

export function withIssuer(portico: Portico): WithIssuer {
  const at = signingIn(portico);
  const appUri = `${portico.baseUrl}/app/signed-in`;
  const host = new URL(portico.baseUrl).host;
  const projectId = (index: 0 | 1) => String(portico.projects[index]?.id);
  const external: WithIssuer = {
    appUri,
    async configure(body, index = 0) {
      const token = await portico.token(portico.projects[index]);
      return portico.api('POST', `admin/projects/${projectId(index)}/issuers`, { body, token });
    },
    async invite(issuer, change = {}, index = 0) {
      const email = newAddress();
      const { id, user } = await at.invite(email, index, { authentication: { issuer }, email, ...change });
      const to = (change as { email?: string }).email ?? email;
      const link = await mailedLink(portico, to, (linkId) => linkId.includes(id));
      return { email: to, membership: id, user: user.reference.replace('User/', ''), link };
    },
    startUrl(issuer, change = {}, index = 0) {
      const query = new URLSearchParams({
        issuer,
        project_id: projectId(index),
        redirect_uri: appUri,
        code_challenge: pkce.codeChallenge,
        code_challenge_method: 'S256',
        state: 'client state',
        ...change,
      });
      return `${portico.baseUrl}/auth/external/start?${query}`;
    },
    async accept(browser, link, change = {}) {
      const body = { ...link, redirectUri: appUri, ...pkce, ...change };
      const answer = await at.post('auth/external/accept', body);
      browser.keep(host, answer);
      return answer;
    },
    async join(issuer, change = {}, index = 0) {
      const invited = await external.invite(issuer, change, index);
      const browser = new Browser();
      const { json } = await external.accept(browser, invited.link);
      return { ...invited, back: await browser.follow(json.location, appUri) };
    },
    signIn: (issuer, change = {}, index = 0) =>
      new Browser().follow(external.startUrl(issuer, change, index), appUri),
    async begin(browser, token) {
      const body = { redirectUri: appUri, state: 'of the page' };
      const answer = await at.post('auth/external/reauthenticate', body, token);
      browser.keep(host, answer);
      return answer;
    },
    async tokenFor(back) {
      const code = back.searchParams.get('code');
      expect(code).not.toBeNull();
      return at.exchange(String(code), { redirect_uri: appUri });
    },
  };
  return external;
}
