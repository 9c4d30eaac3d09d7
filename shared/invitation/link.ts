import type { KeyRing } from '../keys/key-ring.ts';
import { isMac, macOf } from '../keys/mac.ts';

/** One link of one membership. A new generation or expiry makes another secret. */
export interface InvitationLink {
  project: string;
  membershipId: string;
  generation: number;
  expiresAtMs: number;
}

/** Of the link under a key of the stage for nothing else; never stored. */
export function invitationSecret(ring: KeyRing, link: InvitationLink): Promise<string> {
  return macOf(ring, textOf(link));
}

export function isInvitationSecret(ring: KeyRing, link: InvitationLink, given: string): Promise<boolean> {
  return isMac(ring, textOf(link), given);
}

function textOf({ project, membershipId, generation, expiresAtMs }: InvitationLink): string {
  return JSON.stringify([project, membershipId, generation, expiresAtMs]);
}

/** Names a link in URLs and bodies: `<project>.<membership>.<generation>`. */
export function linkId({ project, membershipId, generation }: InvitationLink): string {
  return `${project}.${membershipId}.${generation}`;
}

/** Opens on the stage's own origin; the fragment never reaches a server or its logs. */
export async function invitationUrl(baseUrl: string, ring: KeyRing, link: InvitationLink): Promise<string> {
  const fragment = new URLSearchParams({ id: linkId(link), secret: await invitationSecret(ring, link) });
  return `${baseUrl}/app/accept#${fragment}`;
}
