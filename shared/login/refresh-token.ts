import { hashClientSecret, newClientSecret } from '../keys/client-secret.ts';

/**
 * `<login>.<project>.<membership>.<family>.<secret>`. The ids say what to read and are checked against
 * it. The family is the same in all tokens of a login, the secret another in each: who shows the
 * family with a spent secret shows a token that was stolen or used twice.
 */
export interface RefreshToken {
  loginId: string;
  project: string;
  membershipId: string;
  family: string;
  secret: string;
}

/** A token, and what is stored of it: the hashes. */
export interface NewRefreshToken {
  text: string;
  secret: string;
  familyHash: string;
  secretHash: string;
}

/** @param of the token that it follows, or the login whose first it is */
export function newRefreshToken(
  of: Omit<RefreshToken, 'family' | 'secret'> & { family?: string },
): NewRefreshToken {
  const family = of.family ?? newClientSecret();
  const secret = newClientSecret();
  return {
    text: refreshTokenText({ ...of, family, secret }),
    secret,
    familyHash: hashClientSecret(family),
    secretHash: hashClientSecret(secret),
  };
}

export function refreshTokenText({ loginId, project, membershipId, family, secret }: RefreshToken): string {
  return [loginId, project, membershipId, family, secret].join('.');
}

/** Undefined when the text has not the form of a token. */
export function parseRefreshToken(text: string | undefined): RefreshToken | undefined {
  const form = /^([\w-]{1,64})\.([\w-]{1,64})\.([\w-]{1,64})\.([\w-]{43})\.([\w-]{43})$/;
  const [, loginId, project, membershipId, family, secret] = form.exec(text ?? '') ?? [];
  return loginId && project && membershipId && family && secret
    ? { loginId, project, membershipId, family, secret }
    : undefined;
}
