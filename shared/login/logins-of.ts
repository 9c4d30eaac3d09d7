import type { Services } from '../services.ts';
import type { Item } from '../table/item.ts';
import { type Key, keys } from '../table/keys.ts';
import { type Login, loginOf } from './login-item.ts';

/** A person's logins that are alive, whatever they were made for. */
export async function loginsOf({ table }: Services, userId: string): Promise<Login[]> {
  const { pk, sk } = keys.userLogin(userId, '');
  const mirrors: Item[] = [];
  for (let from: Key | undefined; ; ) {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': sk },
      ...(from ? { ExclusiveStartKey: from } : {}),
    });
    mirrors.push(...page.items);
    from = page.next;
    if (!from) break;
  }
  const wanted = mirrors.map(({ loginId }) => keys.login(String(loginId)));
  if (wanted.length === 0) return [];
  const found = await table.read(wanted);
  return wanted.flatMap((key) => {
    const login = loginOf(found.get(key));
    return login && login.revoked !== true ? [login] : [];
  });
}
