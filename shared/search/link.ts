import { isResourceType, type Parameter } from '../index/registry.ts';
import { invalidField } from '../refusal.ts';
import type { Filter } from './filter.ts';
import { type OwnBase, parseFilter, requireParameter } from './parse-filter.ts';

/** A chained parameter, `subject:Patient.name`, or a reverse one, `_has:Observation:patient:code`. */
export interface Link {
  name: string;
  kind: 'chain' | 'reverse';
  /** What is searched first, and for what. */
  type: string;
  filters: readonly Filter[];
  /** The reference between the two: of the searched type for a chain, of `type` for a reverse one. */
  parameter: Parameter;
}

/**
 * R4 search, chained parameters and reverse chaining, one level each.
 * @returns undefined for a parameter of another form
 * @throws {Refusal} invalid
 */
export function parseLink(searched: string, name: string, value: string, own?: OwnBase): Link | undefined {
  if (name.startsWith('_has:')) return parseReverse(name, value, own);
  const [, code = '', modifier, rest = ''] = /^([A-Za-z_-]+)(?::([^.]*))?\.(.+)$/s.exec(name) ?? [];
  if (rest === '') return undefined;
  const parameter = requireReference(searched, code, name);
  const type = modifier ?? parameter.target;
  if (type === undefined) {
    throw invalidField(name, `Say which type ${code} refers to, such as ${code}:Patient.${rest}`);
  }
  return { name, kind: 'chain', type, filters: inner(type, rest, value, { name, own }), parameter };
}

function parseReverse(name: string, value: string, own: OwnBase | undefined): Link {
  const [, type = '', code = '', ...rest] = name.split(':');
  if (rest.length === 0) throw invalidField(name, '_has must be _has:Type:reference:parameter');
  requireType(type, name);
  const parameter = requireReference(type, code, name);
  const filters = inner(type, rest.join(':'), value, { name, own });
  return { name, kind: 'reverse', type, filters, parameter };
}

function inner(
  type: string,
  rest: string,
  value: string,
  { name, own }: { name: string; own: OwnBase | undefined },
): Filter[] {
  requireType(type, name);
  if (rest.includes('.') || rest.startsWith('_has')) {
    throw invalidField(name, 'A parameter is chained over one reference only');
  }
  const filters = parseFilter(type, rest, value, own);
  if (filters.length === 0) throw invalidField(name, `${name} has no value`);
  return filters;
}

function requireType(type: string, name: string): void {
  if (!isResourceType(type)) throw invalidField(name, `${type} is not a resource type`);
}

function requireReference(type: string, code: string, name: string): Parameter {
  const parameter = requireParameter(type, code, name);
  if (parameter.type === 'reference') return parameter;
  throw invalidField(name, `${code} of ${type} is no reference`);
}
