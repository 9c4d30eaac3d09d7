import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Ends a login: every token of it, refresh tokens too, is refused from the next request on. */
export async function endLogin(table: Table, loginId: string): Promise<void> {
  // One that is swept ended long ago.
  await table.updateIf({
    Key: keys.login(loginId),
    UpdateExpression: 'SET revoked = :true',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':true': true },
  });
}
