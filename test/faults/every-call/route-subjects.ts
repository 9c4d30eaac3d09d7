import { type ExampleGround, exampleOf, namedRoutes, send, tokenFor } from '../../spec/calling-routes.ts';
import { type Example, routeExamples } from '../../spec/route-examples.ts';
import { deeperExamples, onlyNo } from './deeper-examples.ts';
import type { StillStack } from './still-stack.ts';
import type { Subject } from './trial.ts';

type NamedRoute = (typeof namedRoutes)[number];

const nameOf = (route: NamedRoute) => `${route.function}.${route.name}`;

/** A route as its example calls it. */
export function routeSubject(ground: ExampleGround, route: NamedRoute): Subject {
  const examples = routeExamples(ground);
  return {
    name: route.key,
    async prepare() {
      const example = await exampleOf(examples, route);
      const token = route.access === 'public' ? null : await tokenFor(ground, example);
      return () => told(ground, route, example, token);
    },
  };
}

/** Routes as they are called beyond their examples. */
export function deeperSubjects(stack: StillStack, ground: ExampleGround): Subject[] {
  return Object.entries(deeperExamples(stack, ground)).map(([name, make]) => {
    const route = namedRoutes.find((one) => nameOf(one) === name.split(' ')[0]);
    if (!route) throw new Error(`There is no route of ${name}`);
    return {
      name,
      async prepare() {
        const { token = ground.tokens.administrator, bodyAgain, ...example } = await make();
        let times = 0;
        return () => {
          times += 1;
          const isAgain = times > 1 && bodyAgain !== undefined;
          return told(ground, route, isAgain ? { ...example, body: bodyAgain } : example, token);
        };
      },
    };
  });
}

/** Routes that say no in every example, and are not known to. */
export async function neverDone(stack: StillStack, ground: ExampleGround): Promise<string[]> {
  const done = new Set(Object.keys(deeperExamples(stack, ground)).map((name) => name.split(' ')[0]));
  const examples = routeExamples(ground);
  const found: string[] = [];
  for (const route of namedRoutes) {
    const { status } = await exampleOf(examples, route);
    if (status >= 400 && !done.has(nameOf(route)) && !onlyNo.includes(nameOf(route)))
      found.push(nameOf(route));
  }
  return found;
}

async function told(ground: ExampleGround, route: NamedRoute, example: Example, token: string | null) {
  const { status, text, headers } = await send(ground.portico, route, example, token);
  return { status: worstOf(status, text), text, isLater: status === 200 || headers.has('retry-after') };
}

/** Where an answer has a status for each of several parts, the worst of them: what is to be asked for again. */
function worstOf(status: number, text: string): number {
  if (status !== 200) return status;
  const statuses = text.matchAll(/"status":"?(\d{3})\b/g);
  return Math.max(status, ...[...statuses].map(([, one]) => Number(one)).filter((one) => one >= 400));
}
