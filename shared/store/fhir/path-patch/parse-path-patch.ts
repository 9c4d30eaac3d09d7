import { invalidField, Refusal } from '../../../base/refusal.ts';

/** One operation of a FHIRPath Patch (R4 fhirpatch). */
export type PathOperation = { path: string } & (
  | { type: 'add'; name: string; value: PathValue }
  | { type: 'insert'; index: number; value: PathValue }
  | { type: 'delete' }
  | { type: 'replace'; value: PathValue }
  | { type: 'move'; source: number; destination: number }
);

/** A value of a data type, or the members of an element that has no type of its own. */
export type PathValue = { type: string; value: unknown } | { members: readonly PathMember[] };

interface PathMember {
  name: string;
  value: PathValue;
}

const types = ['add', 'insert', 'delete', 'replace', 'move'] as const;
const mostOperations = 100;
const deepestValue = 10;

interface Parameter {
  name?: unknown;
  part?: unknown;
  [value: string]: unknown;
}

/**
 * Without operations it changes nothing.
 * @throws {Refusal} invalid, with the place in the Parameters as expression
 */
export function parsePathPatch({ parameter = [] }: { parameter?: unknown }): PathOperation[] {
  const all = listOf(parameter);
  if (!Array.isArray(parameter) || all.length < parameter.length)
    throw invalidField('Parameters.parameter', 'A FHIRPath Patch has operations as its parameters');
  if (all.length > mostOperations) {
    throw new Refusal('invalid', `A FHIRPath Patch holds at most ${mostOperations} operations`);
  }
  return all.map((one, i) => parseOperation(one, `Parameters.parameter[${i}]`));
}

function parseOperation({ name, part }: Parameter, at: string): PathOperation {
  if (name !== 'operation') throw invalidField(at, 'Each parameter must be an operation');
  const parts = new Map(listOf(part).map((one) => [one.name, one]));
  const text = (which: string) => {
    const found = parts.get(which);
    const value = found?.valueString ?? found?.valueCode;
    return typeof value === 'string' ? value : undefined;
  };
  const type = types.find((one) => one === text('type'));
  const path = text('path');
  if (!type) throw invalidField(at, `type must be one of ${types.join(', ')}`);
  if (path === undefined) throw invalidField(at, 'An operation needs a path');
  const number = (which: string) => {
    const value = parts.get(which)?.valueInteger;
    if (!isPosition(value)) throw invalidField(at, `${type} needs ${which}`);
    return value;
  };
  const readValue = () => {
    const value = parts.get('value');
    if (!value) throw invalidField(at, `${type} needs a value`);
    return parseValue(value, at, 0);
  };
  switch (type) {
    case 'add': {
      const name = text('name');
      if (name === undefined) throw invalidField(at, 'add needs the name of an element');
      return { type, path, name, value: readValue() };
    }
    case 'insert':
      return { type, path, value: readValue(), index: number('index') };
    case 'delete':
      return { type, path };
    case 'replace':
      return { type, path, value: readValue() };
    case 'move':
      return { type, path, source: number('source'), destination: number('destination') };
  }
}

function isPosition(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function parseValue(parameter: Parameter, at: string, depth: number): PathValue {
  const [name, value] =
    Object.entries(parameter).find(([key]) => /^value[A-Z]/.test(key)) ??
    (parameter.resource === undefined ? [] : ['valueResource', parameter.resource]);
  if (name !== undefined) return { type: name.slice('value'.length), value };
  const parts = listOf(parameter.part);
  if (parts.length === 0 || depth > deepestValue) throw invalidField(at, 'The value cannot be read');
  return {
    members: parts.map((part) => {
      if (typeof part.name !== 'string') throw invalidField(at, 'A part needs a name');
      return { name: part.name, value: parseValue(part, at, depth + 1) };
    }),
  };
}

function listOf(value: unknown): Parameter[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one) => typeof one === 'object' && one !== null);
}
