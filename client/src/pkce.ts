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

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
