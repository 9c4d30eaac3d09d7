import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beginning, checkTable, type Violation } from '../../infra/check-table/check-table.ts';
import { scanPage } from '../../shared/carry/table/scan-page.ts';
import { openTable } from '../../shared/carry/table/table.ts';

interface Checked {
  client: DynamoDBDocumentClient;
  tableName: string;
  clock: { nowMs: number };
}

/** Where nobody reads the stream, what follows writes is never done. */
export const streamUnread = Number.MAX_SAFE_INTEGER / 2;

/** What does not hold in a table that nobody writes to. @param settleMs none: nothing follows any more */
export async function violationsIn(
  { client, tableName, clock }: Checked,
  settleMs = 0,
): Promise<Violation[]> {
  const found: Violation[] = [];
  const checking = checkTable(
    {
      table: openTable(client, tableName, () => clock.nowMs),
      scan: (from) => scanPage(client, tableName, { from, limit: 1000 }),
      now: () => clock.nowMs,
      settleMs,
      pause: async () => undefined,
      report: (violation) => void found.push(violation),
    },
    beginning,
  );
  for await (const _ of checking);
  return found;
}
