/**
 * An invite over the local gateway, one at a time, against the parts that it cannot do without,
 * measured in the same run: an HTTP echo, one batch read, one transaction of as many items.
 */

import { randomUUID } from 'node:crypto';
import type { Key } from '../shared/table/keys.ts';
import { compare } from './measure.ts';
import { startBench } from './stack.ts';

const json = 'application/json';
const bench = await startBench();
const person = () =>
  JSON.stringify({
    resourceType: 'Patient',
    firstName: 'Ann',
    lastName: 'Lee',
    email: `${randomUUID()}@example.org`,
  });
const invite = () => bench.post(`admin/projects/${bench.projectId}/invite`, person(), json, 200);

await invite();
const before = await bench.countItems();
await bench.post(
  `admin/projects/${bench.projectId}/invite`,
  JSON.stringify({ ...JSON.parse(person()), sendEmail: false }),
  json,
  200,
);
/** As many items as a new member takes, and the mail. */
const writes = (await bench.countItems()) - before + 1;
const filler = 'x'.repeat(400);
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

await compare(
  { name: 'invite', step: invite },
  [
    { name: 'echo', step: () => bench.echo(person(), json) },
    { name: 'batch read', step: () => bench.table.read(read) },
    { name: `transaction of ${writes}`, step: transaction },
  ],
  1.5,
);

const beganAt = performance.now();
await Promise.all(
  Array.from({ length: 32 }, async () => {
    for (let i = 0; i < 10; i++) await invite();
  }),
);
const perSecond = 320_000 / (performance.now() - beganAt);
process.stdout.write(`invite, 32 at a time: ${perSecond.toFixed(0)} a second, none refused\n`);
await bench.stop();
