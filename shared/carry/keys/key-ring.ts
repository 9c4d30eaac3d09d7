import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { typedKeys } from '../../base/values.ts';

/** One version of a purpose's key: 32 bytes. */
interface VersionedKey {
  /** From 1. */
  version: number;
  key: Uint8Array;
}

/** The versions of one purpose's key. What was made with any of them is good; one makes what is new. */
export interface KeyRing {
  current(): Promise<VersionedKey>;
  /** Undefined for a version that is not there, or not any more. */
  find(version: number): Promise<Uint8Array | undefined>;
  /** For what does not say which version made it, and was made in the last hour: the current one first. */
  all(): Promise<VersionedKey[]>;
}

/** Of the purposes that a function has. */
export type KeyRings<P extends KeyPurpose> = Readonly<Record<P, KeyRing>>;

const firstVersion = 1;

/** A text in base64url that was made with that version: of the first it says nothing, as texts of earlier releases. */
function withVersion(text: string, version: number): string {
  return version === firstVersion ? text : `${text}.${version}`;
}

/** Undefined for what `withVersion` does not make. */
export function splitVersion(given: string): { text: string; version: number } | undefined {
  const [, text, version] = /^([\w-]*)(?:\.([1-9]\d{0,8}))?$/.exec(given) ?? [];
  if (text === undefined || Number(version) === firstVersion) return undefined;
  return { text, version: version === undefined ? firstVersion : Number(version) };
}

/**
 * What the stage has secret keys for: each purpose its own, which no other opens. With each the words under which the
 * first version of its key derives from the one secret that earlier releases had for all of them.
 */
const derivations = {
  /** The tokens of Bots that run. */
  'run-token': 'portico run token',
  /** What is mailed: links of invitations, of password resets, of changes of address. */
  'invitation-link': 'portico invitation link',
  'reset-link': 'portico password reset',
  'address-link': 'portico new address',
  /** Second factors. */
  totp: 'portico totp',
  /** The keys under which the app seals unsaved work on a person's device. */
  drafts: 'portico drafts',
  /** What our client at an issuer is given there, sealed. */
  'issuer-secret': 'portico seal issuer secret',
  /** The cookie of a sign-in that is on its way through an issuer. */
  'external-sign-in': 'portico seal external sign-in',
  /** What is noted of a sign-in, so that it is known again where it comes from. */
  'known-sign-in': 'portico known sign-in',
} as const;

export type KeyPurpose = keyof typeof derivations;

export const keyPurposes: readonly KeyPurpose[] = typedKeys(derivations);

/** The first version of a purpose's key on a stage that had one secret for all. 32 bytes. */
export function derivedKey(secret: Uint8Array, purpose: KeyPurpose): Uint8Array {
  return Buffer.from(hkdfSync('sha256', secret, '', derivations[purpose], 32));
}

/** HMAC-SHA256 under the current key: 43 characters of base64url, and the version of the key where it is a later one. */
export async function macOf(ring: KeyRing, text: string): Promise<string> {
  const { key, version } = await ring.current();
  return withVersion(hmac(key, text).toString('base64url'), version);
}

/** Whether that was made of the text, by a key that is still known. @param given anything */
export async function isMac(ring: KeyRing, text: string, given: string): Promise<boolean> {
  const { text: shown, version } = splitVersion(given) ?? { version: 0 };
  const key = shown === undefined ? undefined : await ring.find(version);
  if (key === undefined) return false;
  const [expected, actual] = [hmac(key, text).toString('base64url'), String(shown)].map((one) =>
    Buffer.from(one),
  ) as [Buffer, Buffer];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

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

/**
 * AES-256-GCM under the current key: base64url of nonce, tag and ciphertext, and the version of the key where it is a
 * later one.
 * @param of what it belongs to, such as a Project: moved elsewhere it does not open
 */
export async function sealWithRing(ring: KeyRing, of: readonly string[], text: string): Promise<string> {
  const { key, version } = await ring.current();
  return withVersion(sealWith(key, of, text), version);
}

/** Undefined for what was not sealed here, with this ring and for this belonging. */
export async function unsealWithRing(
  ring: KeyRing,
  of: readonly string[],
  sealed: string,
): Promise<string | undefined> {
  const split = splitVersion(sealed);
  const key = split && (await ring.find(split.version));
  return key && unsealWith(key, of, split.text);
}

/** What a sealed text is for and belongs to: it opens under the same words only. */
export interface SealFor {
  /** Each use has a key of its own. */
  use: string;
  of: readonly string[];
}

/** The same under a key that derives from a secret for this use. */
export function seal(secret: Uint8Array, { use, of }: SealFor, text: string): string {
  return sealWith(keyFor(secret, use), of, text);
}

/** Undefined for what was not sealed under that secret, for this use and belonging. */
export function unseal(secret: Uint8Array, { use, of }: SealFor, sealed: string): string | undefined {
  return unsealWith(keyFor(secret, use), of, sealed);
}

function sealWith(key: Uint8Array, of: readonly string[], text: string): string {
  return Buffer.from(sealBytes(key, Buffer.from(text), JSON.stringify(of))).toString('base64url');
}

function unsealWith(key: Uint8Array, of: readonly string[], sealed: string): string | undefined {
  try {
    const opened = openBytes(key, Buffer.from(sealed, 'base64url'), JSON.stringify(of));
    return Buffer.from(opened).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyFor(secret: Uint8Array, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `portico seal ${use}`, 32));
}

const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM (NIST SP 800-38D): IV, tag, ciphertext. @param bound must be the same to open it */
export function sealBytes(key: Uint8Array, bytes: Uint8Array, bound: string): Uint8Array {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** @throws {Error} when key, bytes or `bound` are not those of sealBytes */
export function openBytes(key: Uint8Array, sealed: Uint8Array, bound: string): Uint8Array {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(bound)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
}
