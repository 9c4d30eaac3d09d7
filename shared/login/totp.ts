import { createHmac } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { renderSVG } from 'uqr';

/** One enrolment of one person; another seed makes another secret. */
export interface TotpOf {
  userId: string;
  seed: string;
}

const periodMs = 30_000;

/**
 * RFC 6238 with what every authenticator app supports: SHA-1, six digits, 30 s. The secret is an HMAC under
 * a key of the stage for nothing else: it is stored nowhere.
 */
function totpOf(key: Uint8Array, { userId, seed }: TotpOf, label: string): TOTP {
  const mac = createHmac('sha256', key)
    .update(JSON.stringify([userId, seed]))
    .digest();
  const secret = new Secret({ buffer: Uint8Array.from(mac.subarray(0, 20)).buffer });
  return new TOTP({ issuer: 'Portico', label, secret, period: periodMs / 1000 });
}

/** What hands the secret to a phone: an `otpauth:` URI, and the same as an SVG image in a data URL. */
export function enrolment(
  key: Uint8Array,
  of: TotpOf,
  label: string,
): { enrollUri: string; enrollQrCode: string } {
  const enrollUri = totpOf(key, of, label).toString();
  const svg = Buffer.from(renderSVG(enrollUri)).toString('base64');
  return { enrollUri, enrollQrCode: `data:image/svg+xml;base64,${svg}` };
}

/**
 * The step of time that a code is of, one earlier or later tolerated (RFC 6238 section 5.2); undefined
 * for a wrong one.
 */
export function stepOfCode(key: Uint8Array, of: TotpOf, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const delta = totpOf(key, of, '').validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? undefined : Math.floor(nowMs / periodMs) + delta;
}

/** Which version of the stage's key an enrolled secret derives from: of the first a seed says nothing. */
export function keyVersionOf(seed: string): number {
  return Number(seed.split('.')[2] ?? 1);
}
