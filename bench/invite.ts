/**
 * An invite over the local gateway, one at a time, against the parts that it cannot do without,
 * measured in the same run: an HTTP echo, one batch read, one transaction of as many items; and many at once.
 */

import { randomUUID } from 'node:crypto';
import type { Key } from '../shared/carry/table/keys.ts';
import { generate } from './load/generate.ts';
import { against } from './measure.ts';
import type { Row } from './rows.ts';
import { startBench } from './stack.ts';

const json = 'application/json';
/** As many items as a new member takes (test/storage/invite-cost.test.ts), and the mail. */
const writes = 21;
const filler = 'x'.repeat(400);

export async function inviteRows(): Promise<Row[]> {
  const bench = await startBench();
  try {
    const person = () => {
      const email = `${randomUUID()}@example.org`;
      return JSON.stringify({ resourceType: 'Patient', firstName: 'Ann', lastName: 'Lee', email });
    };
    const invite = () => bench.post(`admin/projects/${bench.projectId}/invite`, person(), json, 200);
    const read: Key[] = Array.from({ length: 5 }, () => ({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD' }));
    for (const key of read) await bench.table.put({ ...key, content: filler });
    const transaction = () =>
      bench.table.transact(
        Array.from({ length: writes }, (_, i) => ({
          name: `put ${i}`,
          put: { pk: `BENCH#${randomUUID()}`, sk: 'HEAD', content: filler },
          if: 'attribute_not_exists(pk)',
        })),
      );
    const parts = [
      { name: 'echo', step: () => bench.echo(person(), json) },
      { name: 'batch read', step: () => bench.table.read(read) },
      { name: `transaction of ${writes}`, step: transaction },
    ];
    const one = await against({ name: 'invite', step: invite }, parts, { most: 1.9, wanted: '1.5' }, 100);
    const { failures, elapsedMs } = await generate(invite, { atOnce: 32, requests: 320 });
    const refused = [...failures.values()].reduce((sum, count) => sum + count, 0);
    const detail = `${(320_000 / elapsedMs).toFixed(0)} a second${[...failures.keys()].slice(0, 2).join()}`;
    return [one, { name: 'invite, 32 at once: refused', value: refused, unit: 'of 320', most: 0, detail }];
  } finally {
    await bench.stop();
  }
}
