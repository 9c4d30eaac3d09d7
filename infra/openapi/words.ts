import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import type { FunctionName, routes } from '../../functions/routes.ts';
import { fieldsOf, isObject } from '../../shared/base/values.ts';

/** What the document says of a route beside its row of the route table. */
export interface Words {
  summary: string;
  /** Parameters of the query by name; one that must be there ends with `!`. */
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Body;
  /**
   * By status, beside those refusals that every route has. Left out: the 200 of a route that only says it is done, the 404
   * of one whose path names something, and the 429 of one that is shown a password or code.
   */
  answers?: Readonly<Record<number, DescribedAnswer>>;
}

/** Of every route of a function but the one for whatever is no route. */
export type WordsOf<Name extends FunctionName> = Record<
  Exclude<keyof (typeof routes)[Name], 'unknown'>,
  Words
>;

export interface Body {
  /** By media type. */
  content: Readonly<Record<string, JsonSchema>>;
  isOptional?: true;
}

export interface DescribedAnswer {
  description: string;
  content?: Readonly<Record<string, JsonSchema>>;
}

/** @param schema that parses it */
export function json(schema: GenericSchema): Body {
  return { content: { 'application/json': jsonSchemaOf(schema) } };
}

export function form(properties: Readonly<Record<string, JsonSchema>>): Body {
  return { content: { 'application/x-www-form-urlencoded': object(properties) } };
}

export const text = { type: 'string' };

/** An object with these; one that must be there ends with `!`. */
export function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const names = Object.keys(properties);
  const required = names.filter((name) => name.endsWith('!')).map(withoutMark);
  const all = Object.entries(properties).map(([name, schema]) => [withoutMark(name), schema]);
  return {
    ...{ type: 'object', properties: Object.fromEntries(all) },
    ...(required.length > 0 ? { required } : {}),
  };
}

export function withoutMark(name: string): string {
  return name.replace(/!$/, '');
}

export function fhir(schema: JsonSchema): Body {
  return { content: { 'application/fhir+json': schema, 'application/json': schema } };
}

/** @param name of a schema in the components */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

export function answersJson(name: string, description: string): DescribedAnswer {
  return { description, content: { 'application/json': ref(name) } };
}

export function answersFhir(name: string, description: string): DescribedAnswer {
  return { description, content: { 'application/fhir+json': ref(name) } };
}

export const refused = (description: string) => answersFhir('OperationOutcome', description);
export const done = refused('Done');
export const throttled = refused('Too many attempts');
export const redirects = (description: string): DescribedAnswer => ({ description });

/** A list that is answered page by page. */
export const paged = {
  _count: 'Entries of a page',
  _cursor: 'Where the page begins, as the link or parameter `next` of the page before names it',
};

export const idempotent = {
  'Idempotency-Key': 'A repeat with the same key and body within 24 hours is answered with the first answer',
};

/** A JSON Schema of the 2020-12 dialect, which OpenAPI 3.1 uses as it is. */
export type JsonSchema = Readonly<{ [keyword: string]: unknown }>;

/**
 * What a schema takes, as far as JSON Schema can say it: what only code can check, such as the form of an
 * address, is left out.
 */
function jsonSchemaOf(schema: GenericSchema): JsonSchema {
  const { $schema: _, ...converted } = toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' });
  return fieldsOf(simple(converted));
}

/** `{anyOf: [{type}, null]}` as one schema of two types. */
function simple(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simple);
  if (!isObject(value)) return value;
  const { anyOf, ...rest } = value;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, simple(part)]));
  if (!Array.isArray(anyOf)) return inner;
  const [one, other, ...more] = anyOf.map((part) => fieldsOf(simple(part)));
  if (one && other?.type === 'null' && more.length === 0) {
    if (typeof one.type === 'string' && one.enum === undefined)
      return { ...one, ...inner, type: [one.type, 'null'] };
    if (Array.isArray(one.enum)) {
      return { ...one, ...inner, type: [one.type ?? 'string', 'null'], enum: [...one.enum, null] };
    }
    if (Array.isArray(one.anyOf)) return { ...one, ...inner, anyOf: [...one.anyOf, other] };
  }
  return { anyOf: anyOf.map(simple), ...inner };
}
