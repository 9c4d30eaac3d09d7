import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { fieldsOf, isObject } from '../../shared/fields-of.ts';

/** A JSON Schema of the 2020-12 dialect, which OpenAPI 3.1 uses as it is. */
export type JsonSchema = Readonly<{ [keyword: string]: unknown }>;

/**
 * What a schema takes, as far as JSON Schema can say it: what only code can check, such as the form of an
 * address, is left out.
 */
export function jsonSchemaOf(schema: GenericSchema): JsonSchema {
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
