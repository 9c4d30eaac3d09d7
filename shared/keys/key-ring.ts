import type { KeyPurpose } from './purposes.ts';

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
export function withVersion(text: string, version: number): string {
  return version === firstVersion ? text : `${text}.${version}`;
}

/** Undefined for what `withVersion` does not make. */
export function splitVersion(given: string): { text: string; version: number } | undefined {
  const [, text, version] = /^([\w-]*)(?:\.([1-9]\d{0,8}))?$/.exec(given) ?? [];
  if (text === undefined || Number(version) === firstVersion) return undefined;
  return { text, version: version === undefined ? firstVersion : Number(version) };
}
