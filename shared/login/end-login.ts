import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/**
 * Ends a login: every token of it, refresh tokens too, is refused from the next request on.
 * @returns whether it had not been ended before
 */
export async function endLogin(table: Table, loginId: string): Promise<boolean> {
  // One that is swept ended long ago.
  const { held } = await table.updateIf({
    Key: keys.login(loginId),
    UpdateExpression: 'SET revoked = :true',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(revoked)',
    ExpressionAttributeValues: { ':true': true },
  });
  return held;
}
