import { openText, sealingKey, sealText } from '../session/sealing.ts';
import type { Session } from '../session/session.ts';
import { keptTexts } from './kept-texts.ts';

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
