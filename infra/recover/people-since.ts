import { isDeepStrictEqual } from 'node:util';
import { isStanding } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Step } from './recovery.ts';

/** A password, second factor or secret that was changed since stays changed. */
export const keepCredential: Step = async ({ table, lost }, item, prepared) => {
  const since = (await lost?.read([item]))?.get(item);
  // Whose client was deleted since has its membership ended.
  if (!since || isDeepStrictEqual(since, item)) return;
  await table.put(since);
  prepared.credentialsKept += 1;
};

/**
 * A second factor that a person has enrolled or changed since is theirs. One that was taken off stays: without it one
 * would need less. Who was erased since, or has another address since, is told of.
 */
export const keepAccount: Step = async (recovery, item, prepared) => {
  if (!recovery.lost || !isStanding(item)) return;
  const id = item.pk.slice(keys.user('').pk.length);
  const mfaKey = keys.mfa(id);
  const [found, before] = await Promise.all([
    recovery.lost.read([item, mfaKey]),
    recovery.table.read([mfaKey]),
  ]);
  const since = found.get(item);
  if (!isStanding(since)) {
    prepared.open.push(`User/${id} was erased since, and is back: erase the account once more`);
    return;
  }
  if (since.email !== item.email) {
    prepared.open.push(
      `User/${id} has another address since: mails, those that reset a password too, go to the one before`,
    );
  }
  const factor = found.get(mfaKey);
  if (factor && !isDeepStrictEqual(factor, before.get(mfaKey))) {
    await recovery.table.put(factor);
    prepared.credentialsKept += 1;
  }
};

/** An issuer that is trusted no more does not come back; one that was said anew is as it was said. */
export const keepIssuer: Step = async ({ table, lost }, item, prepared) => {
  if (!lost) return;
  const since = (await lost.read([item])).get(item);
  if (isDeepStrictEqual(since, item)) return;
  await (since ? table.put(since) : table.write([], [keyOf(item)]));
  prepared.credentialsKept += 1;
};

/** An account at an issuer that was replaced by another one since opens nothing any more. */
export const keepSubject: Step = async ({ table, lost }, item, prepared) => {
  const since = (await lost?.read([item]))?.get(item);
  if (!lost || !since || since.subjectKey === item.subjectKey) return;
  const named = { pk: String(since.subjectKey), sk: keys.subject(undefined, '', '').sk };
  const subject = (await lost.read([named])).get(named);
  if (!subject) return;
  await table.write([since, subject], [{ pk: String(item.subjectKey), sk: named.sk }]);
  prepared.credentialsKept += 1;
};

function keyOf({ pk, sk }: Item) {
  return { pk, sk };
}
