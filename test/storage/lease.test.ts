import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Lease, releaseLease, takeLease } from '../../shared/bots/run/bounds.ts';
import { callsOf, type Stage, startStage } from './stage.ts';

let stage: Stage;
let projects = 0;

beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

const newProject = () => `project-${++projects}`;

function take(
  project: string,
  id: string,
  limit = 2,
  forMs = 10_000,
): Promise<Lease | 'throttled' | undefined> {
  const run = { id, deadlineAtMs: stage.clock.nowMs + forMs };
  return takeLease(stage.services, project, limit, run).catch((error) => error.kind);
}

test('a Project has as many places as its limit, and a place given back is free', async () => {
  const project = newProject();
  const first = await take(project, 'a');
  expect([await take(project, 'b'), await take(project, 'c')]).toEqual([
    expect.objectContaining({ project }),
    'throttled',
  ]);
  await releaseLease(stage.services, first as Lease);
  expect(await take(project, 'c')).toMatchObject({ project });
  expect(await take(newProject(), 'a')).toBeDefined();
});

test('twenty at once take as many places as there are', async () => {
  const project = newProject();
  const taken = await Promise.all(Array.from({ length: 20 }, (_, i) => take(project, `${i}`, 5)));
  expect(taken.filter((lease) => lease !== 'throttled')).toHaveLength(5);
});

test('a place whose run crashed is free after its deadline', async () => {
  const project = newProject();
  await take(project, 'crashed', 1, 10_000);
  stage.clock.nowMs += 14_000;
  expect(await take(project, 'early', 1)).toBe('throttled');
  stage.clock.nowMs += 2_000;
  const taken = await Promise.all(['x', 'y', 'z'].map((id) => take(project, id, 1)));
  expect(taken.filter((lease) => lease !== 'throttled')).toHaveLength(1);
});

test('costs one write, and nothing at all without a limit', async () => {
  const project = newProject();
  expect(await callsOf(stage.client, () => take(project, 'a'))).toEqual(['UpdateItem']);
  const run = { id: 'a', deadlineAtMs: 1 };
  expect(await callsOf(stage.client, () => takeLease(stage.services, project, undefined, run))).toEqual([]);
});
