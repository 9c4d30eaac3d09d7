import { openText, sealingKey, sealText } from '../session/kept-session.ts';
import type { Session } from '../session/session.ts';

/** What somebody has not saved yet. */
export interface Draft<T> {
  value: T;
  /** What was saved when they began: another one now means that somebody else has saved meanwhile. */
  base: T;
  atMs: number;
}

/** Sessions that their person has ended: what is still being sealed is not kept. */
const ended = new WeakSet<Session>();

/** Whose drafts: of one User in one Project. */
function ownerOf({ me }: Session): string {
  return `${me.user?.id ?? me.profile.id} ${me.project.id} `;
}

/** Undefined too when it is older than a day, or was sealed for somebody else. */
export async function readDraft<T>(session: Session, name: string): Promise<Draft<T> | undefined> {
  const full = ownerOf(session) + name;
  const key = await keyOf(session);
  const kept = key && keptTexts.read(full);
  const text = kept && (await openText(key, full, kept.sealed));
  return text === undefined ? undefined : { ...JSON.parse(text), atMs: kept?.atMs };
}

/** Keeps it on this device, where a session of this User alone opens it. */
export async function writeDraft<T>(
  session: Session,
  name: string,
  { value, base, atMs }: Draft<T>,
): Promise<void> {
  const full = ownerOf(session) + name;
  const key = await keyOf(session);
  if (!key) return;
  const sealed = await sealText(key, full, JSON.stringify({ value, base }));
  if (!ended.has(session)) keptTexts.write(full, { atMs, sealed });
}

export function removeDraft(session: Session, name: string): void {
  keptTexts.remove(ownerOf(session) + name);
}

/** How many drafts this User has in this Project, on this device. */
export function countDrafts(session: Session): number {
  return keptTexts.names(ownerOf(session)).length;
}

/** At the end of a session that the person ends themselves. */
export function forgetDrafts(session: Session): void {
  ended.add(session);
  for (const name of keptTexts.names(ownerOf(session))) keptTexts.remove(name);
}

/** Of one session the same; undefined when the service hands none out, as for a program. */
async function keyOf({ me }: Session): Promise<CryptoKey | undefined> {
  const key = me.security?.draftKey;
  return key === undefined ? undefined : sealingKey(key);
}

const prefix = 'portico.draft ';
const longestMs = 24 * 60 * 60_000;

/** A sealed text on this device, and since when. */
interface KeptText {
  atMs: number;
  sealed: string;
}

/**
 * Texts on this device, for 24 hours. They are sealed by who writes them; without storage nothing is kept.
 */
const keptTexts = {
  read(name: string): KeptText | undefined {
    try {
      const { atMs, sealed } = JSON.parse(localStorage.getItem(prefix + name) ?? '{}');
      if (typeof atMs === 'number' && typeof sealed === 'string' && Date.now() - atMs < longestMs)
        return { atMs, sealed };
      localStorage.removeItem(prefix + name);
    } catch {
      // Then there is none.
    }
    return undefined;
  },
  write(name: string, kept: KeptText): void {
    try {
      localStorage.setItem(prefix + name, JSON.stringify(kept));
    } catch {
      // Storage is full or forbidden: the text lives as long as its page.
    }
  },
  remove(name: string): void {
    try {
      localStorage.removeItem(prefix + name);
    } catch {
      // There is nothing then.
    }
  },
  /** The names that begin so; what has lain for too long goes. */
  names(beginning: string): string[] {
    try {
      const names = Object.keys(localStorage).flatMap((key) =>
        key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
      );
      return names.filter((name) => keptTexts.read(name) && name.startsWith(beginning));
    } catch {
      return [];
    }
  },
};

/** Whether two values of JSON are the same, of objects with their fields in one order. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What was typed, by its name, in memory only: it may hold health data. */
let kept = new Map<string, unknown>();
let keptOf: string | undefined;

/** What the owner has typed; what somebody else had typed is gone. */
export function keptInputsOf(owner: string): Map<string, unknown> {
  if (keptOf !== owner) {
    kept = new Map();
    keptOf = owner;
  }
  return kept;
}

/** What was typed there is sent or thrown away. */
export function forgetKept(name: string): void {
  kept.delete(name);
}

/** When somebody signs out. */
export function forgetAllKept(): void {
  kept.clear();
}

/** Whether something was typed that only this page's memory holds. */
export function hasKept(): boolean {
  return kept.size > 0;
}
