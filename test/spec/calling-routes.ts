import { allRoutes, type Route } from '../../functions/routes.ts';
import { routeKey } from '../../shared/carry/http/routes.ts';
import { newPerson, type TestPerson, tokenOf } from './people.ts';
import type { Answer, Portico } from './portico.ts';
import { type Example, type Examples, identifier } from './route-examples.ts';
import { botThat, createClient } from './running.ts';

/** What the examples of routes are about: a person, a Bot and tokens in the first Project. */
export interface ExampleGround {
  portico: Portico;
  person: TestPerson;
  bot: string;
  tokens: { administrator: string; person: string; member: string };
}

export async function exampleGround(portico: Portico): Promise<ExampleGround> {
  const person = await newPerson(portico);
  const bot = await botThat(portico, 'return event.input', { identifier: [identifier] });
  const tokens = {
    administrator: await portico.token(),
    person: await tokenOf(portico, person),
    member: (await createClient(portico)).token,
  };
  return { portico, person, bot, tokens };
}

/** Every route with its name in reports. */
export const namedRoutes = allRoutes.map((route) => ({ ...route, key: routeKey(route) }));

export async function exampleOf(
  examples: Examples,
  { function: name, name: route }: Route,
): Promise<Example> {
  const ofFunction: Record<string, () => Example | Promise<Example>> = examples[name];
  return ofFunction[route]?.() ?? { status: 0 };
}

/** Sends the example of a route by the route's own method and path. */
export function send(
  portico: Portico,
  route: Route,
  example: Example,
  token: string | null,
): Promise<Answer> {
  const { params = {}, query, body, headers } = example;
  const all: Record<string, string> = { projectId: String(portico.projects[0]?.id), ...params };
  const path =
    route.path === '$default'
      ? 'no/such/route'
      : route.path.replace(/^\//, '').replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => {
          if (all[name] === undefined) throw new Error(`No example of ${name}`);
          return encodeURIComponent(all[name]);
        });
  const method = route.method === 'ANY' ? 'GET' : route.method;
  return portico.api(method, query ? `${path}?${new URLSearchParams(query)}` : path, {
    token,
    ...(body === undefined ? {} : { body }),
    ...(headers ? { headers } : {}),
  });
}

/** Some routes end the login that they are called with. */
export async function tokenFor({ portico, tokens }: ExampleGround, { as }: Example): Promise<string> {
  if (as === 'another person') return tokenOf(portico, await newPerson(portico));
  return as === 'person' ? tokens.person : tokens.administrator;
}
