import { hkdfSync } from 'node:crypto';
import type { StageSecret } from './signer.ts';

/**
 * The key under which the app seals what a User has not saved yet, on their own device. The same at each of
 * their sign-ins to the Project, and never stored: without a session of theirs, what lies on the device opens to
 * nobody. @returns 32 bytes in base64url
 */
export function draftKeyOf(stage: StageSecret, userId: string, project: string): string {
  const info = `portico drafts ${JSON.stringify([userId, project])}`;
  return Buffer.from(hkdfSync('sha256', stage, '', info, 32)).toString('base64url');
}
