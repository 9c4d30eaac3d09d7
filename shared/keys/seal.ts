import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { StageSecret } from './signer.ts';

const nonceBytes = 12;
const tagBytes = 16;

/** What a sealed text is for and belongs to: it opens under the same words only. */
export interface SealFor {
  /** Each use has a key of its own. */
  use: string;
  /** Such as the Project that it belongs to: a sealed text that is moved elsewhere does not open. */
  of: readonly string[];
}

/** AES-256-GCM under a key of the stage: base64url of nonce, tag and ciphertext. */
export function seal(stage: StageSecret, { use, of }: SealFor, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', keyFor(stage, use), nonce).setAAD(belonging(of));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url');
}

/** Undefined for what was not sealed here, for this use and belonging. */
export function unseal(stage: StageSecret, { use, of }: SealFor, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', keyFor(stage, use), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(belonging(of))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    const opened = [decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()];
    return Buffer.concat(opened).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyFor(stage: StageSecret, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', stage, '', `portico seal ${use}`, 32));
}

function belonging(of: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(of));
}
