import type { Key } from '../../shared/table/keys.ts';
import { outboxPartitions } from '../../shared/table/keys.ts';
import { sendMail } from './send-mail.ts';
import type { OutboxServices } from './services.ts';

/** Tries every unsent mail once more. One that fails again stays for the next sweep. */
export async function sweep(services: OutboxServices): Promise<void> {
  for (const partition of outboxPartitions()) {
    let from: Key | undefined;
    do {
      const page = await services.table.query({
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': partition },
        ...(from ? { ExclusiveStartKey: from } : {}),
      });
      for (const { pk, sk } of page.items) {
        await sendMail(services, { pk, sk }).catch((error: Error) => {
          services.log.error('mail not sent', { error: error.name });
        });
      }
      from = page.next;
    } while (from);
  }
}
