import type { Resource } from '../fhir/resource.ts';
import type { Parameter, Path, Step } from './registry.ts';

/** A value of a resource that a search parameter sees. */
export interface Value {
  /** Its FHIR data type. */
  type: string;
  value: unknown;
  /** For references: only one to this type counts. */
  target: string | undefined;
}

/** A resource is looked at by several conditions, and does not change meanwhile. */
const known = new WeakMap<Resource, Map<Parameter, readonly Value[]>>();

/** All values of a resource that the parameter sees. */
export function valuesOf(resource: Resource, parameter: Parameter): readonly Value[] {
  const found = known.get(resource) ?? new Map<Parameter, readonly Value[]>();
  const values = found.get(parameter) ?? parameter.paths.flatMap((path) => walk(resource, path));
  known.set(resource, found.set(parameter, values));
  return values;
}

function walk(resource: Resource, { steps, type, target }: Path): Value[] {
  let found: unknown[] = [resource];
  for (const step of steps) found = found.flatMap((value) => advance(value, step));
  return found.map((value) => ({ type, value, target }));
}

function advance(from: unknown, { element, at, where }: Step): unknown[] {
  const member = fieldOf(from, element);
  if (member === undefined || member === null) return [];
  const all = Array.isArray(member) ? member : [member];
  if (at !== undefined) return all.slice(at, at + 1);
  const chosen = where ? all.filter((value) => fieldOf(value, where.name) === where.value) : all;
  return chosen.filter((value) => value !== null && value !== undefined);
}

/** An own field of an object; undefined for everything else. */
export function fieldOf(value: unknown, name: string): unknown {
  return hasOwn(value, name) ? value[name] : undefined;
}

function hasOwn(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}
