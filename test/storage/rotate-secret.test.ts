import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hashClientSecret } from '../../shared/carry/keys/credential.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { rotateSecret } from '../../shared/identity/memberships/change-client.ts';
import { createClient } from '../../shared/identity/memberships/clients.ts';
import { getItem, newProject, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;
let clientId: string;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
  clientId = (await createClient(stage.services, caller, { name: 'Lab' })).id;
});
afterAll(() => stage.stop());

const rotate = (receivedAtMs: number) => rotateSecret(stage.services, caller, { clientId, receivedAtMs });

test('a rotation that came in before another one ended is a conflict, whenever it is carried out', async () => {
  const first = await rotate(stage.clock.nowMs - 20);
  await expect(rotate(stage.clock.nowMs - 10)).rejects.toMatchObject({ kind: 'conflict' });
  const stored = await getItem(stage.services, keys.client(clientId));
  expect(stored?.secretHash).toBe(hashClientSecret(String(first.secret)));
  expect((await rotate(stage.clock.nowMs + 1)).secret).not.toBe(first.secret);
});

test('of many that have all read the same secret one is carried out', async () => {
  const { table } = stage.services;
  const all = Promise.withResolvers<void>();
  let waiting = 0;
  const transact: typeof table.transact = async (actions) => {
    waiting += 1;
    if (waiting === 8) all.resolve();
    await all.promise;
    return table.transact(actions);
  };
  const services = { ...stage.services, table: { ...table, transact } };
  const input = { clientId, receivedAtMs: stage.clock.nowMs + 1 };
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => rotateSecret(services, caller, input)),
  );
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const result of results)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ kind: 'conflict' });
});
