import type { GenericSchema } from 'valibot';
import type { JsonSchema } from './json-schema.ts';

/** What the document says of a route beside its row of the route table. */
export interface Words {
  summary: string;
  /** Parameters of the query by name; one that must be there ends with `!`. */
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Body;
  /** By status, beside those refusals that every route has. */
  answers: Readonly<Record<number, Answer>>;
}

export interface Body {
  /** By media type: the schema that parses it, or one that only tells of it. */
  content: Readonly<Record<string, GenericSchema | JsonSchema>>;
  isOptional?: true;
}

export interface Answer {
  description: string;
  content?: Readonly<Record<string, JsonSchema>>;
}

export function json(schema: GenericSchema | JsonSchema): Body {
  return { content: { 'application/json': schema } };
}

export function form(schema: JsonSchema): Body {
  return { content: { 'application/x-www-form-urlencoded': schema } };
}

export function fhir(schema: JsonSchema): Body {
  return { content: { 'application/fhir+json': schema, 'application/json': schema } };
}

/** @param name of a schema in the components */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

export function answersJson(name: string, description: string): Answer {
  return { description, content: { 'application/json': ref(name) } };
}

export function answersFhir(name: string, description: string): Answer {
  return { description, content: { 'application/fhir+json': ref(name) } };
}

export const done = answersFhir('OperationOutcome', 'Done');
export const refused = (description: string) => answersFhir('OperationOutcome', description);
export const redirects = (description: string): Answer => ({ description });

/** A list that is answered page by page. */
export const paged = {
  _count: 'Entries of a page',
  _cursor: 'Where the page begins, as the link or parameter `next` of the page before names it',
};

export const idempotent = {
  'Idempotency-Key': 'A repeat with the same key and body within 24 hours is answered with the first answer',
};
