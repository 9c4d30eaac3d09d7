import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findLeftOver } from '../resources/left-over.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { projectOf } from '../spec/running.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico({});
});
afterAll(() => portico.stop());

/** A resource with many index items, all of them other ones for another mark. */
function put(mark: string) {
  const concept = Array.from({ length: 2_500 }, (_, n) => ({ code: `${mark}-${n}` }));
  const body = { resourceType: 'CodeSystem', id: 'many', status: 'active', content: 'complete', concept };
  return portico.api('PUT', 'fhir/R4/CodeSystem/many', { body });
}

/** How long after the answer the mail of an invitation to the second Project came, in ms. */
async function mailMs(email: string): Promise<number> {
  const project = projectOf(portico, 1);
  const answer = await portico.api('POST', `admin/projects/${project.id}/invite`, {
    token: await portico.token(project),
    body: { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', email },
  });
  expect(answer.status).toBe(200);
  const answeredAt = performance.now();
  await portico.local.mailbox.waitFor(({ to }) => to.includes(email), 30_000);
  return performance.now() - answeredAt;
}

async function untilTidy(): Promise<void> {
  const { store, client, table } = portico.local;
  for (const untilMs = Date.now() + 30_000; ; ) {
    const { stray, other } = await findLeftOver(store, client, table.tableName);
    if (stray.length === 0 && other.length === 0) return;
    if (Date.now() > untilMs) throw new Error(`${stray.length} index items were left behind`);
  }
}

test('thousands of index items replaced in one Project do not delay the mail of another', async () => {
  expect((await put('one')).status).toBe(201);
  await untilTidy();
  expect((await put('two')).status).toBe(200);
  const delays: number[] = [];
  for (const name of ['a', 'b', 'c', 'd']) delays.push(await mailMs(`${name}@example.org`));
  expect(Math.max(...delays)).toBeLessThan(2_500);
  await untilTidy();
}, 180_000);
