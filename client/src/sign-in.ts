import type { Reference } from './invite-request.ts';
import { outcomeErrorOf } from './operation-outcome-error.ts';
import { serviceUrl } from './service-url.ts';

/** A call without a token: what is in the body speaks for it. @throws {OperationOutcomeError} */
export async function postJson(
  baseUrl: string | URL,
  path: string,
  body: object,
  credentials: RequestCredentials = 'omit',
): Promise<unknown> {
  const response = await fetch(serviceUrl(baseUrl, path), {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
    credentials,
    redirect: 'error',
  });
  if (!response.ok) throw await outcomeErrorOf(response);
  return response.json();
}

/**
 * A person's sign-in. The challenge is from `newPkce`, or from the client that the person came from; the
 * service refuses a sign-in without one, but of its built-in client.
 */
export interface SignInRequest {
  /** The service's address. */
  baseUrl: string | URL;
  email: string;
  password: string;
  codeChallenge?: string;
  codeChallengeMethod?: 'S256' | 'plain';
  /** The registered client that gets the code, and where it wants it; none for an app of your own. */
  clientId?: string;
  redirectUri?: string;
  /** Signs in to this Project only. */
  projectId?: string;
  /** `openid` when left out; `offline_access` asks for a refresh token. */
  scope?: string;
  nonce?: string;
}

/** Someone's place in one Project. */
export interface MembershipChoice {
  id: string;
  project: Reference;
  profile: Reference;
}

/** What comes next in a sign-in, until there is a code for `exchangeCode`. */
export type SignInStep =
  | { kind: 'code'; code: string }
  | {
      kind: 'choose';
      memberships: MembershipChoice[];
      /** Choosing an invitation that is still open accepts it. */
      choose(membershipId: string): Promise<SignInStep>;
    }
  | {
      kind: 'choose-patient';
      /** The person's patients, for one of which the scope `launch/patient` asks. */
      patients: Reference[];
      choose(reference: string): Promise<SignInStep>;
    }
  | { kind: 'second-factor'; verify(token: string): Promise<SignInStep> }
  | {
      kind: 'enroll-second-factor';
      /** `otpauth:` address of the new secret, and the same as an image (`data:` address). */
      uri: string;
      qrCode: string;
      enroll(token: string): Promise<EnrolledStep>;
    };

/** What comes next for somebody who has just enrolled, and their recovery codes: this once. */
export type EnrolledStep = SignInStep & { recoveryCodes: string[] };

/**
 * Begins a person's sign-in with address and password.
 * @throws {OperationOutcomeError} wrong address or password, too many tries
 */
export async function signIn({ baseUrl, ...request }: SignInRequest): Promise<SignInStep> {
  return signInStep(baseUrl, await postJson(baseUrl, 'auth/login', { clientId: '', ...request }));
}

/**
 * The step that an answer of the service asks for: of `auth/…`, or `login` and `memberships` as they come back
 * from an external issuer.
 * @throws {TypeError} when it asks for none that is known
 */
export function signInStep(baseUrl: string | URL, answer: unknown): SignInStep {
  const fields = { ...(answer as object) } as Record<string, unknown>;
  const { login, code, memberships, patients, profile } = fields;
  const next = async (path: string, given: object) =>
    signInStep(baseUrl, await postJson(baseUrl, path, { login, ...given }));
  if (typeof code === 'string') return { kind: 'code', code };
  if (fields.mfaEnrollRequired === true) {
    return {
      kind: 'enroll-second-factor',
      uri: String(fields.enrollUri ?? ''),
      qrCode: String(fields.enrollQrCode ?? ''),
      async enroll(token) {
        const answered = await postJson(baseUrl, 'auth/mfa/login-enroll', { login, token });
        const { recoveryCodes } = { ...(answered as object) } as { recoveryCodes?: unknown };
        const codes = Array.isArray(recoveryCodes) ? recoveryCodes.map(String) : [];
        return { ...signInStep(baseUrl, answered), recoveryCodes: codes };
      },
    };
  }
  if (fields.mfaRequired === true) {
    return { kind: 'second-factor', verify: (token) => next('auth/mfa/verify', { token }) };
  }
  if (Array.isArray(patients)) {
    return {
      kind: 'choose-patient',
      patients: patients as Reference[],
      choose: (patient) => next('auth/profile', { profile, patient }),
    };
  }
  if (Array.isArray(memberships)) {
    return {
      kind: 'choose',
      memberships: memberships as MembershipChoice[],
      choose: (profile) => next('auth/profile', { profile }),
    };
  }
  throw new TypeError('The service wants something of the sign-in that this library does not know');
}

/** Proof of who asked for a code (RFC 7636): the challenge goes with the sign-in, the verifier with the code. */
export interface Pkce {
  codeVerifier: string;
  codeChallenge: string;
  codeChallengeMethod: 'S256';
}

/** A new pair: 256 random bits and their SHA-256, as base64url. Browsers want a secure origin for it. */
export async function newPkce(): Promise<Pkce> {
  const codeVerifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier));
  return { codeVerifier, codeChallenge: base64url(new Uint8Array(digest)), codeChallengeMethod: 'S256' };
}

export function base64url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
