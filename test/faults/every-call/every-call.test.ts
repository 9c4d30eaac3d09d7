import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { isLong } from '../../setup/long.ts';
import { type ExampleGround, exampleGround, namedRoutes } from '../../spec/calling-routes.ts';
import { deeperFunctions } from './deeper-examples.ts';
import { functionSubjects, otherFunctions } from './function-subjects.ts';
import { porticoOf } from './portico-of.ts';
import { allOf, kinds, openSample, type Place, places } from './positions.ts';
import { deeperSubjects, neverDone, routeSubject } from './route-subjects.ts';
import { type StillStack, startStillStack } from './still-stack.ts';
import { type Bench, openBench, type Ran, type Subject } from './trial.ts';
import { faultsOf, isAs } from './verdict.ts';
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
});
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
    const last = more.at(-1);
    if (last && !isAs(last, once)) twice ??= (await bench.run(subject, [undefined, undefined]))[1];
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

/** Of those of a function; each is named with its faults and seconds in the long form. */
async function wrongWithAll(subjects: readonly Subject[], isOf: (name: string) => boolean) {
  const wrong: string[] = [];
  const own = subjects.filter(({ name }) => isOf(name));
  expect(own).not.toEqual([]);
  for (const subject of own) {
    const [before, atMs] = [cases, performance.now()];
    const found = await wrongWith(subject).catch((error: Error) => [String(error.stack)]);
    wrong.push(...found.map((text) => `${subject.name}: ${text}`));
    const seconds = ((performance.now() - atMs) / 1000).toFixed(1);
    if (isLong) process.stdout.write(`${subject.name}: ${cases - before} faults in ${seconds} s\n`);
  }
  return wrong;
}

test.each(otherFunctions)(
  'every call of %s, which no route calls',
  async (name) => {
    const isOf = (subject: string) => subject.startsWith(`${name}:`);
    expect(await wrongWithAll(functionSubjects(stack, ground), isOf)).toEqual([]);
  },
  7_200_000,
);

describe('every call of every route', () => {
  test.each(namedRoutes)(
    '$key',
    async (route) => {
      expect(await wrongWithAll([routeSubject(ground, route)], () => true)).toEqual([]);
    },
    3_600_000,
  );
});

test.each(deeperFunctions)(
  'every call of what routes of %s do beyond their examples',
  async (name) => {
    const isOf = (subject: string) => subject.startsWith(`${name}.`);
    expect(await wrongWithAll(deeperSubjects(stack, ground), isOf)).toEqual([]);
  },
  7_200_000,
);

test('a route that says no in each example is named', async () => {
  expect(await neverDone(stack, ground)).toEqual([]);
});

test('each fault was met at each place', () => {
  if (isLong) return;
  const wanted = kinds.flatMap((kind) => places.map((place) => `${kind} at ${place}`));
  expect([...met].sort()).toEqual(wanted.sort());
});
