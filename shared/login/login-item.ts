import { boolean, exactOptional, type InferInput, number, object, optional, picklist, string } from 'valibot';
import { stored } from '../schema/stored.ts';

/** A login: of a program with its tokens, or of a person from the sign-in to its last refresh. */
const loginSchema = object({
  pk: string(),
  sk: string(),
  kind: picklist(['person', 'client']),
  subject: string(),
  /** Empty for the own app. */
  clientId: string(),
  scope: string(),
  createdAtMs: number(),
  /** Seconds since the epoch. */
  ttl: exactOptional(number()),
  revoked: exactOptional(boolean()),
  /** Once a membership is chosen. */
  project: optional(string()),
  membershipId: optional(string()),
  /** Reference of the Patient whose record it is for. */
  patient: optional(string()),
  /** Memberships of this Project only. */
  onlyProject: optional(string()),
  codeChallenge: optional(string()),
  codeChallengeMethod: optional(picklist(['S256', 'plain'])),
  redirectUri: optional(string()),
  nonce: optional(string()),
  needsMfa: optional(boolean()),
  /** Whether a second factor was shown. */
  mfa: optional(boolean()),
  /** Whether that was a recovery code. */
  recovered: optional(boolean()),
  /** The issuer that vouched for the person; undefined for a password. */
  issuer: optional(string()),
  /** Whose own issuer that is; undefined for one of the stage. */
  issuerProject: optional(string()),
  /** The login that ends when this one chooses a membership, and in which Project as whom. */
  replaces: exactOptional(object({ loginId: string(), project: string(), profile: string() })),
  /** When the membership was chosen, where that was later. */
  chosenAtMs: exactOptional(number()),
  codeHash: exactOptional(string()),
  codeExpiresAtMs: exactOptional(number()),
  /** When the person was last known to use it. */
  usedAtMs: exactOptional(number()),
  /** Whether its code was exchanged. */
  granted: exactOptional(boolean()),
  /** The attempt that did. */
  grantedBy: exactOptional(string()),
  refreshFamilyHash: exactOptional(string()),
  refreshHash: exactOptional(string()),
  /** The successor of the last refresh token that was spent, which that token alone opens. */
  rotation: exactOptional(object({ sealed: string(), untilMs: number() })),
});

export type Login = InferInput<typeof loginSchema>;

export const loginOf = stored('login', loginSchema);

export function idOfLogin({ pk }: Pick<Login, 'pk'>): string {
  return pk.replace(/^L#/, '');
}
