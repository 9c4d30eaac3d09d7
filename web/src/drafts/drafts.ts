import { openText, sealingKey, sealText, whereAllowed } from '../session/kept-session.ts';
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
  const kept = key && readText(full);
  const text = kept && (await openText(key, full, kept.sealed));
  return text === undefined ? undefined : { ...JSON.parse(text), atMs: kept?.atMs };
}

/** Keeps it on this device, where a session of this User alone opens it. */
export async function writeDraft<T>(session: Session, name: string, draft: Draft<T>): Promise<void> {
  const { value, base, atMs } = draft;
  const full = ownerOf(session) + name;
  const key = await keyOf(session);
  if (!key) return;
  const sealed = await sealText(key, full, JSON.stringify({ value, base }));
  if (ended.has(session)) return;
  whereAllowed(() => localStorage.setItem(prefix + full, JSON.stringify({ atMs, sealed })));
}

export function removeDraft(session: Session, name: string): void {
  removeText(ownerOf(session) + name);
}

/** How many drafts this User has in this Project, on this device. */
export function countDrafts(session: Session): number {
  return namesOf(session).length;
}

/** At the end of a session that the person ends themselves. */
export function forgetDrafts(session: Session): void {
  ended.add(session);
  namesOf(session).forEach(removeText);
}

/** Of one session the same; undefined when the service hands none out, as for a program. */
async function keyOf({ me }: Session): Promise<CryptoKey | undefined> {
  const key = me.security?.draftKey;
  return key === undefined ? undefined : sealingKey(key);
}

/** Texts lie on this device under names that begin so, for 24 hours, each with the time when it was sealed. */
const prefix = 'portico.draft ';
const longestMs = 24 * 60 * 60_000;

function readText(name: string): { atMs: number; sealed: string } | undefined {
  return whereAllowed(() => {
    const { atMs, sealed } = JSON.parse(localStorage.getItem(prefix + name) ?? '{}');
    if (typeof atMs === 'number' && typeof sealed === 'string' && Date.now() - atMs < longestMs)
      return { atMs, sealed };
    removeText(name);
    return undefined;
  });
}

function removeText(name: string): void {
  whereAllowed(() => localStorage.removeItem(prefix + name));
}

/** Of this User in this Project; what has lain for too long, of whomever, goes. */
function namesOf(session: Session): string[] {
  const keys = whereAllowed(() => Object.keys(localStorage)) ?? [];
  const names = keys.flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []));
  return names.filter((name) => readText(name) && name.startsWith(ownerOf(session)));
}

/** Whether two values of JSON are the same, of objects with their fields in one order. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What was typed, by its name, in memory only: it may hold health data. */
let kept = new Map<string, unknown>();
let keptOf: string | undefined;

/** What this User has typed in this Project; what somebody else had typed is gone. */
export function keptInputsOf(session: Session): Map<string, unknown> {
  const owner = ownerOf(session);
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
