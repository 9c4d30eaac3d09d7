import { hkdfSync } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';

/**
 * The key under which the app seals what a User has not saved yet, on their own device. The same at each of
 * their sign-ins to the Project until the stage has another key for drafts, and never stored: without a session of
 * theirs, what lies on the device opens to nobody. @returns 32 bytes in base64url
 */
export async function draftKeyOf(ring: KeyRing, userId: string, project: string): Promise<string> {
  const info = `portico drafts ${JSON.stringify([userId, project])}`;
  const { key } = await ring.current();
  return Buffer.from(hkdfSync('sha256', key, '', info, 32)).toString('base64url');
}
