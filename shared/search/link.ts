import { isResourceType, type Parameter } from '../index/registry.ts';
import { invalidField } from '../refusal.ts';
import type { Filter } from './filter.ts';
import { requireParameter } from './parameter.ts';
import { type OwnBase, parseFilter } from './parse-filter.ts';

const mostReferences = 2;

/** Where a parameter stands: its whole name, and how many references led there. */
interface Where {
  name: string;
  own: OwnBase | undefined;
  depth: number;
}

/** A chained parameter, `subject:Patient.name`, or a reverse one, `_has:Observation:patient:code`. */
export interface Link {
  name: string;
  kind: 'chain' | 'reverse';
  /** What is searched first, and for what. */
  type: string;
  filters: readonly Filter[];
  /** A further reference on the way: its conditions are asked of what is searched first. */
  links: readonly Link[];
  /** The reference between the two: of the searched type for a chain, of `type` for a reverse one. */
  parameter: Parameter;
}

/**
 * R4 search, chained parameters and reverse chaining, over one reference or two.
 * @returns undefined for a parameter of another form
 * @throws {Refusal} invalid
 */
export function parseLink(searched: string, name: string, value: string, own?: OwnBase): Link | undefined {
  return parseStep(searched, name, value, { name, own, depth: 1 });
}

/** @param step what is left of the name behind the references before */
function parseStep(searched: string, step: string, value: string, where: Where): Link | undefined {
  const { name, depth } = where;
  if (depth > mostReferences && (step.startsWith('_has:') || step.includes('.'))) {
    throw invalidField(name, `A parameter is chained over ${mostReferences} references at most`);
  }
  if (step.startsWith('_has:')) return parseReverse(step, value, where);
  const [, code = '', modifier, rest = ''] = /^([A-Za-z_-]+)(?::([^.]*))?\.(.+)$/s.exec(step) ?? [];
  if (rest === '') return undefined;
  const parameter = requireReference(searched, code, name);
  const type = modifier ?? parameter.target;
  if (type === undefined) {
    throw invalidField(name, `Say which type ${code} refers to, such as ${code}:Patient.${rest}`);
  }
  return { name, kind: 'chain', type, ...inner(type, rest, value, where), parameter };
}

function parseReverse(step: string, value: string, where: Where): Link {
  const { name } = where;
  const [, type = '', code = '', ...rest] = step.split(':');
  if (rest.length === 0) throw invalidField(name, '_has must be _has:Type:reference:parameter');
  requireType(type, name);
  const parameter = requireReference(type, code, name);
  return { name, kind: 'reverse', type, ...inner(type, rest.join(':'), value, where), parameter };
}

function inner(type: string, rest: string, value: string, where: Where): Pick<Link, 'filters' | 'links'> {
  const { name, own, depth } = where;
  requireType(type, name);
  const link = parseStep(type, rest, value, { ...where, depth: depth + 1 });
  if (link) return { filters: [], links: [link] };
  const filters = parseFilter(type, rest, value, own);
  if (filters.length === 0) throw invalidField(name, `${name} has no value`);
  return { filters, links: [] };
}

function requireType(type: string, name: string): void {
  if (!isResourceType(type)) throw invalidField(name, `${type} is not a resource type`);
}

function requireReference(type: string, code: string, name: string): Parameter {
  const parameter = requireParameter(type, code, name);
  if (parameter.type === 'reference') return parameter;
  throw invalidField(name, `${code} of ${type} is no reference`);
}
