import { allRoutes, type FunctionName, type Route } from '../../functions/routes.ts';
import { schemas } from './components.ts';
import { bots, executeById, executeByIdentifier, subscriptions } from './operations/bots.ts';
import { account, login } from './operations/login.ts';
import { invite, members } from './operations/members.ts';
import { resources } from './operations/resources.ts';
import { site, token } from './operations/token.ts';
import {
  type Body,
  type DescribedAnswer,
  done,
  type JsonSchema,
  refused,
  throttled,
  type Words,
  type WordsOf,
  withoutMark,
} from './words.ts';

interface Section<Name extends FunctionName> {
  title: string;
  description: string;
  /** What a route says that does not find what its path names. */
  unknown?: string;
  /** One without words does not compile. */
  routes: WordsOf<Name>;
}

const notHere = 'Not in this Project';
const execute = { title: 'Execute', description: 'A Bot is run.' };

const sections: { readonly [Name in FunctionName]: Section<Name> } = {
  token: { title: 'Tokens', description: 'OAuth 2.0, OpenID Connect and SMART App Launch.', routes: token },
  login: { title: 'Sign-in', description: 'The steps of a sign-in.', routes: login },
  account: { title: 'Account', description: 'What is a person’s own.', routes: account },
  members: {
    ...{ title: 'Members', description: 'Members, clients and issuers of a Project.' },
    ...{ unknown: notHere, routes: members },
  },
  invite: { title: 'Invite', description: 'People are invited into a Project.', routes: invite },
  bots: {
    ...{ title: 'Bots', description: 'Bots, their code, secrets and logs.', unknown: notHere, routes: bots },
  },
  subscriptions: {
    ...{ title: 'Subscriptions', description: 'Deliveries of Subscriptions.' },
    ...{ unknown: notHere, routes: subscriptions },
  },
  'execute-by-id': { ...execute, routes: executeById },
  'execute-by-identifier': { ...execute, routes: executeByIdentifier },
  resources: {
    ...{ title: 'FHIR', description: 'The FHIR R4 API.' },
    ...{ unknown: 'There is none that the caller may see', routes: resources },
  },
  site: { title: 'App', description: 'The administration app, and this document.', routes: site },
};

export interface DescribedRoute extends Route {
  words: Words;
  answers: Readonly<Record<string, DescribedAnswer>>;
  tag: string;
}

/** The routes of the document, in the order of the table. */
export const describedRoutes: readonly DescribedRoute[] = allRoutes.flatMap((route) => {
  const { title: tag, unknown, routes } = sections[route.function];
  const words = (routes as Readonly<Record<string, Words>>)[route.name];
  if (!words) return [];
  const { answers = {} } = words;
  const isDone = !Object.keys(answers).some((status) => Number(status) < 400);
  const named = unknown !== undefined && /\{(?!projectId)/.test(route.path);
  const usual = {
    ...(isDone ? { 200: done } : {}),
    ...(named ? { 404: refused(unknown) } : {}),
    ...(route.signIn === 'shown' ? { 429: throttled } : {}),
  };
  return [{ ...route, words, answers: { ...usual, ...answers }, tag }];
});

/** The document that `/openapi.json` serves (OpenAPI 3.1.1). */
export function openApiDocument(): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of describedRoutes) {
    const path = route.path.replaceAll('+}', '}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const named = new Map(Object.values(sections).map(({ title, description }) => [title, description]));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Portico',
      version: '0.1.0',
      description:
        'Identity and Bots of a FHIR platform. A refusal is a FHIR OperationOutcome with one issue per wrong field; the endpoints of OAuth answer as RFC 6749 says. Unknown members of a JSON body are ignored, but where it may hold no others; a request that takes no body is refused with one.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...named].map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas, responses, securitySchemes },
  };
}

/** What is said of a route beside its summary. */
function descriptionOf({ access, signIn }: DescribedRoute): string {
  return [
    ...(access === 'administrator' ? ['For administrators of the Project.'] : []),
    ...(signIn === 'recent' ? ['Needs a sign-in of the last five minutes.'] : []),
    ...(signIn === 'depends' ? ['May need a sign-in of the last five minutes.'] : []),
  ].join(' ');
}

function operationOf(route: DescribedRoute): JsonSchema {
  const { name, path, access, tag, words, answers } = route;
  const { summary, query = {}, headers = {}, body } = words;
  const inPath = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, one = '']) => parameter(one, 'path', ''));
  const all = [
    ...inPath,
    ...Object.entries(query).map(([one, description]) => parameter(one, 'query', description)),
    ...Object.entries(headers).map(([one, description]) => parameter(one, 'header', description)),
  ];
  return {
    operationId: name,
    summary,
    tags: [tag],
    ...(descriptionOf(route) ? { description: descriptionOf(route) } : {}),
    ...(all.length > 0 ? { parameters: all } : {}),
    ...(body ? { requestBody: requestBody(body) } : {}),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)])),
      ...('400' in answers ? {} : { 400: { $ref: '#/components/responses/Invalid' } }),
      ...(access === 'public'
        ? {}
        : {
            401: { $ref: '#/components/responses/Unauthorized' },
            403: { $ref: '#/components/responses/Forbidden' },
          }),
      default: { $ref: '#/components/responses/Refused' },
    },
    security: access === 'public' ? [] : [{ oauth2: [] }],
  };
}

function parameter(name: string, place: 'path' | 'query' | 'header', description: string): JsonSchema {
  const isRequired = place === 'path' || name.endsWith('!');
  return {
    name: withoutMark(name),
    in: place,
    ...(description ? { description } : {}),
    ...(isRequired ? { required: true } : {}),
    schema: { type: 'string' },
  };
}

function requestBody({ content, isOptional }: Body): JsonSchema {
  return { ...(isOptional ? {} : { required: true }), content: contentOf(content) };
}

function responseOf({ description, content }: DescribedAnswer): JsonSchema {
  return { description, ...(content ? { content: contentOf(content) } : {}) };
}

function contentOf(content: Body['content']): JsonSchema {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]));
}

const responses = Object.fromEntries(
  Object.entries({
    Invalid: 'Something in the request is wrong: an issue for each',
    Unauthorized: 'No token, or one that is not good any more',
    Forbidden: 'Not for this caller',
    Refused: 'Refused, or a fault of ours',
  }).map(([name, description]) => [name, responseOf(refused(description))]),
);

const scopes = { openid: 'Who signs in', offline_access: 'A refresh token' };
const securitySchemes = {
  oauth2: {
    type: 'oauth2',
    flows: {
      clientCredentials: { tokenUrl: '/oauth2/token', scopes },
      authorizationCode: { authorizationUrl: '/oauth2/authorize', tokenUrl: '/oauth2/token', scopes },
    },
  },
};
