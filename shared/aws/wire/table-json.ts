/**
 * Requests and answers of DynamoDB as JSON, from and to what the commands of @aws-sdk/lib-dynamodb take and
 * give: items, keys and values of expressions are plain there and typed here. No I/O.
 */

import { fieldsOf } from '../../fields-of.ts';
import { fromAttributes, toAttributes } from './attribute.ts';

/** Members of any operation that are an item, a key or the values of an expression, and lists of them. */
const maps = new Set([
  'Item',
  'Key',
  'Attributes',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'LastEvaluatedKey',
]);
const lists = new Set(['Items', 'Keys']);

export function writeRequest(input: object): string {
  return JSON.stringify(translate(input, toAttributes));
}

/** @throws {SyntaxError} when it is no JSON */
export function readAnswer(text: string): Record<string, unknown> {
  const { Responses, ...rest } = fieldsOf(JSON.parse(text));
  const output = fieldsOf(translate(rest, (map) => fromAttributes(fieldsOf(map))));
  // Of BatchGetItem: items by table.
  if (Responses) output.Responses = byTable(Responses);
  return output;
}

function byTable(responses: object): Record<string, unknown[]> {
  return Object.fromEntries(
    Object.entries(responses).map(([table, items]) => [table, items.map(fromAttributes)]),
  );
}

function translate(value: unknown, convert: (map: object) => object): unknown {
  if (Array.isArray(value)) return value.map((one) => translate(one, convert));
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (maps.has(name)) result[name] = convert(member);
    else if (lists.has(name)) result[name] = member.map(convert);
    else result[name] = translate(member, convert);
  }
  return result;
}
