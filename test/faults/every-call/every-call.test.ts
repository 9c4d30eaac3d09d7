import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { isLong } from '../../setup/long.ts';
import { type ExampleGround, exampleGround, namedRoutes } from '../../spec/calling-routes.ts';
import { functionSubjects } from './function-subjects.ts';
import { porticoOf } from './portico-of.ts';
import { allOf, kinds, openSample, type Place, places } from './positions.ts';
import { deeperSubjects, neverDone, routeSubject } from './route-subjects.ts';
import { type StillStack, startStillStack } from './still-stack.ts';
import { type Bench, openBench, type Ran, type Subject } from './trial.ts';
import { faultsOf } from './verdict.ts';
import { worldOf } from './world.ts';

let stack: StillStack;
let ground: ExampleGround;
let bench: Bench;
let cases = 0;
const met = new Set<string>();
const sample = openSample();

beforeAll(async () => {
  // Nobody waits before a repeat: how long is drawn by lot, and this is the shortest.
  jest.spyOn(Math, 'random').mockReturnValue(0);
  stack = await startStillStack();
  ground = await exampleGround(porticoOf(stack));
  // Kept from then on, as the first Project's is.
  await ground.portico.token(ground.portico.projects[1]);
  bench = openBench(stack, await worldOf(stack));
}, 120_000);
afterAll(async () => {
  jest.restoreAllMocks();
  await stack.stop();
  process.stdout.write(`${cases} faults at calls of routes and functions\n`);
});

async function wrongWith(subject: Subject): Promise<string[]> {
  // Who is told no asks again; what waits between two attempts is called several times.
  const again = Array.from({ length: subject.againAfterMs === undefined ? 1 : 4 }, () => undefined);
  const [once] = await bench.run(subject, [undefined]);
  if (!once) throw new Error('Nothing was run');
  const wrong = once.violations.map(({ text }) => `undisturbed: ${text}`);
  let twice: Ran | undefined;
  const disturbances: { n: number; kind: (typeof kinds)[number]; place?: Place }[] = isLong
    ? allOf(once.calls)
    : sample(once.calls);
  for (const disturbance of disturbances) {
    const [first, ...more] = await bench.run(
      subject,
      [disturbance, ...again],
      ({ status }) => status === once.status && !subject.isRepeated,
    );
    if (!first) throw new Error('Nothing was run');
    if (more.length > 0) twice ??= (await bench.run(subject, [undefined, undefined]))[1];
    const { n, kind, place } = disturbance;
    // Reads at the same time may come to fewer where one of them fails.
    if (first.calls.length < n) continue;
    cases += 1;
    met.add(`${kind} at ${place}`);
    const { service, operation } = first.calls[n - 1] ?? {};
    wrong.push(
      ...faultsOf({ once, twice: twice ?? once }, first, more, subject.isOnce).map(
        (text) => `${n} of ${once.calls.length} (${service} ${operation}) ${kind}: ${text}`,
      ),
    );
  }
  return wrong;
}

async function wrongWithAll(subjects: readonly Subject[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const subject of subjects) {
    const found = await wrongWith(subject).catch((error: Error) => [String(error.stack)]);
    wrong.push(...found.map((text) => `${subject.name}: ${text}`));
  }
  return wrong;
}

describe('every call of every route', () => {
  test.each(namedRoutes)(
    '$key',
    async (route) => {
      expect(await wrongWith(routeSubject(ground, route))).toEqual([]);
    },
    3_600_000,
  );
});

test('every call of what routes do beyond their examples', async () => {
  expect(await wrongWithAll(deeperSubjects(stack, ground))).toEqual([]);
  expect(await neverDone(stack, ground)).toEqual([]);
}, 7_200_000);

test('every call of every function that no route calls', async () => {
  expect(await wrongWithAll(functionSubjects(stack, ground))).toEqual([]);
}, 7_200_000);

test('each fault was met at each place', () => {
  if (isLong) return;
  const wanted = kinds.flatMap((kind) => places.map((place) => `${kind} at ${place}`));
  expect([...met].sort()).toEqual(wanted.sort());
});
