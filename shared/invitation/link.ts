import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { StageSecret } from '../keys/signer.ts';

/** One link of one membership. A new generation or expiry makes another secret. */
export interface InvitationLink {
  project: string;
  membershipId: string;
  generation: number;
  expiresAtMs: number;
}

/** HMAC-SHA256 of the link under a key of the stage; never stored. base64url, 43 characters. */
export function invitationSecret(stage: StageSecret, link: InvitationLink): string {
  const key = Buffer.from(hkdfSync('sha256', stage, '', 'portico invitation link', 32));
  const { project, membershipId, generation, expiresAtMs } = link;
  const text = JSON.stringify([project, membershipId, generation, expiresAtMs]);
  return createHmac('sha256', key).update(text).digest('base64url');
}

export function isInvitationSecret(stage: StageSecret, link: InvitationLink, given: string): boolean {
  const expected = Buffer.from(invitationSecret(stage, link));
  const actual = Buffer.from(given);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** Names a link in URLs and bodies: `<project>.<membership>.<generation>`. */
export function linkId({ project, membershipId, generation }: InvitationLink): string {
  return `${project}.${membershipId}.${generation}`;
}

/** Opens on the stage's own origin; the fragment never reaches a server or its logs. */
export function invitationUrl(baseUrl: string, stage: StageSecret, link: InvitationLink): string {
  const fragment = new URLSearchParams({ id: linkId(link), secret: invitationSecret(stage, link) });
  return `${baseUrl}/app/accept#${fragment}`;
}
