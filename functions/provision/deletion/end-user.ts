import { emailOf } from '../../../shared/login/user-email.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import type { Item } from '../../../shared/table/item.ts';
import { type Key, keys, noticePrefix } from '../../../shared/table/keys.ts';
import { ownerOf } from '../../../shared/table/owner.ts';
import { type Action, ConditionFailed } from '../../../shared/table/transact.ts';

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
    const items = await itemsOf(services, userId);
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

async function itemsOf({ table }: Services, userId: string): Promise<Item[]> {
  const found: Item[] = [];
  for (let from: Key | undefined; ; ) {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.user(userId).pk },
      ...(from ? { ExclusiveStartKey: from } : {}),
    });
    found.push(...page.items);
    from = page.next;
    if (!from) return found;
  }
}

/** Every invite counts the joins of the User whom it finds: one that came in between is noticed. */
async function endActions({ table }: Services, userId: string, head: Item): Promise<Action[]> {
  const email = emailOf(head);
  const addressKey = email === undefined ? undefined : keys.address(email);
  const isOwn = addressKey && ownerOf((await table.read([addressKey])).get(addressKey)) === userId;
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
  const subjects = rest.flatMap(({ subjectKey }) =>
    subjectKey === undefined ? [] : [{ pk: String(subjectKey), sk: 'HEAD' }],
  );
  await table.write([], [...logins, ...subjects, ...(await mailsTo(table, userId))]);
  await table.write([], rest);
}

/** Mails that still wait and hold an address; others look theirs up when they are sent. */
async function mailsTo(table: Services['table'], userId: string): Promise<Key[]> {
  const { pk } = keys.addressMail(userId);
  const found: Key[] = [keys.addressMail(userId)];
  for (let from: Key | undefined; ; ) {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': noticePrefix },
      ...(from ? { ExclusiveStartKey: from } : {}),
    });
    found.push(...page.items.filter(({ sk }) => sk.split('#').includes(userId)));
    from = page.next;
    if (!from) return found.map(({ pk, sk }) => ({ pk, sk }));
  }
}
