import { Refusal } from '../../base/refusal.ts';
import { parseReference } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { type Item, ownerOf, ownerOfAddress } from '../../carry/table/item.ts';
import { type Key, keys, noticePrefix } from '../../carry/table/keys.ts';
import { readAll } from '../../carry/table/pages.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, ConditionFailed } from '../../carry/table/transact.ts';
import { normaliseAddress } from '../mail/address.ts';
import { emailOf } from '../sign-in/logins.ts';
import { undoableEmails } from '../sign-in/undo-address.ts';

const attempts = 8;

/**
 * Ends a person who is in no Project, or only in the one that is named: address, password, second factor, logins,
 * names that issuers have for them. Who is invited into another Project at this moment stays. Done again it goes
 * on where it stopped.
 * @returns `ended` when the User was there and is not any more, `gone` when there was none
 */
export async function endUser(
  services: Services,
  project: string | undefined,
  userId: string,
): Promise<'ended' | 'stays' | 'gone'> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const items = await readAll(services.table, keys.user(userId).pk);
    const head = items.find(({ sk }) => sk === keys.user(userId).sk);
    const others = items.filter(({ sk }) => sk.startsWith('M#') && !sk.startsWith(`M#${project}#`));
    if (others.length > 0) return 'stays';
    try {
      if (head) await services.table.transact(await endActions(services, userId, head));
    } catch (error) {
      if (error instanceof ConditionFailed) continue;
      throw error;
    }
    await removeRest(services, project, { userId, items });
    return head === undefined ? 'gone' : 'ended';
  }
  throw new Refusal('conflict', 'Somebody is being invited over and over');
}

/** Every invite counts the joins of the User whom it finds: one that came in between is noticed. */
async function endActions({ table }: Services, userId: string, head: Item): Promise<Action[]> {
  const email = emailOf(head);
  const addressKey = email === undefined ? undefined : keys.address(email);
  const isOwn = addressKey && ownerOf(await readItem(table, addressKey)) === userId;
  const unjoined =
    head.joins === undefined
      ? { if: 'attribute_not_exists(joins)' }
      : { if: 'joins = :joins', values: { ':joins': head.joins } };
  return [
    { name: 'user', remove: keys.user(userId), ...unjoined },
    ...(isOwn
      ? [{ name: 'address', remove: addressKey, if: 'userId = :user', values: { ':user': userId } }]
      : []),
  ];
}

/** The mirror of the membership stays for the caller: by it the person is found again after a crash. */
async function removeRest(
  { table }: Services,
  project: string | undefined,
  { userId, items }: { userId: string; items: readonly Item[] },
): Promise<void> {
  const rest = items.filter(({ sk }) => sk !== 'HEAD' && !sk.startsWith(`M#${project}#`));
  const logins = rest.flatMap(({ loginId }) => (loginId === undefined ? [] : [keys.login(String(loginId))]));
  const kept = await keptAddresses(table, userId, rest);
  const subjects = rest.flatMap(({ subjectKey }) =>
    subjectKey === undefined ? [] : [{ pk: String(subjectKey), sk: 'HEAD' }],
  );
  await table.write([], [...logins, ...subjects, ...kept, ...(await mailsTo(table, userId))]);
  await table.write([], rest);
}

/** Addresses that they had before, and that are kept for them still. */
async function keptAddresses(
  { read }: Services['table'],
  userId: string,
  rest: readonly Item[],
): Promise<Key[]> {
  const emails = rest.flatMap((item) =>
    item.sk === keys.addressUndo(userId).sk ? undoableEmails(item) : [],
  );
  if (emails.length === 0) return [];
  const found = await read(emails.map(keys.address));
  return emails.map(keys.address).filter((key) => ownerOf(found.get(key)) === userId);
}

/** Mails that still wait and hold an address; others look theirs up when they are sent. */
async function mailsTo(table: Services['table'], userId: string): Promise<Key[]> {
  const { pk } = keys.addressMail(userId);
  const notices = await readAll(table, pk, { prefix: noticePrefix });
  const theirs = notices.filter(({ sk }) => sk.split('#').includes(userId));
  return [keys.addressMail(userId), ...theirs.map(({ pk, sk }) => ({ pk, sk }))];
}

/** The event that erases the account of a person who is a member of no Project any more. */
export interface ForgetRequest {
  /** Address of a User above Projects, or `User/<id>`: where it broke off, nobody has the address any more. */
  forget: string;
}

export interface Forgotten {
  forgotten: { user: string };
}

/**
 * Removes a User with address, password, second factor, logins and the names that issuers have for them. Done again
 * it goes on where it broke off, then by the reference that the log names; what Projects have recorded stays theirs.
 * @throws {Error} when nobody has the address, or they are a member of a Project or invited into one
 */
export async function forgetUser(services: Services, { forget }: ForgetRequest): Promise<Forgotten> {
  const key = keys.address(normaliseAddress(forget) ?? 'none');
  const named = parseReference(forget);
  const userId = named?.type === 'User' ? named.id : ownerOfAddress(await readItem(services.table, key));
  if (userId === undefined) throw new Error('Nobody has this address');
  services.log.info('account is being erased', { userId });
  if ((await endUser(services, undefined, userId)) === 'stays') {
    throw new Error(
      'They are a member of a Project, or invited into one: its administrators remove them first',
    );
  }
  services.log.info('account erased', { userId });
  return { forgotten: { user: userId } };
}
