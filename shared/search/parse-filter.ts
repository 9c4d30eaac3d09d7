import { splitValue } from '../index/escape.ts';
import { invalidField } from '../refusal.ts';
import { compositeFilter } from './composite-filter.ts';
import { createFilter, type Filter } from './filter.ts';
import { InvalidFilter } from './kinds/wanted.ts';
import { requireParameter } from './parameter.ts';

/** What absolute references to our own resources begin with, `https://…/fhir/R4/`. */
export type OwnBase = string;

/**
 * One `name[:modifier]=value` as a condition; none when it narrows nothing.
 * @throws {Refusal} invalid
 */
export function parseFilter(type: string, name: string, value: string, own?: OwnBase): Filter[] {
  const [code = '', modifier] = name.split(/:(.*)/s);
  const parameter = requireParameter(type, code, name);
  if (parameter.composite) {
    if (modifier !== undefined) throw invalidField(name, `${code} has no modifiers`);
    return [compositeFilter(type, parameter, value, (part, one) => parseFilter(type, part, one, own))];
  }
  // A text that every text starts with narrows nothing; a picker sends it before anything is typed.
  if (parameter.type === 'string' && value === '') return [];
  const values = splitValue(value, ',');
  const literal = parameter.type === 'reference' && own ? values.map((one) => relative(one, own)) : values;
  try {
    return [createFilter(parameter, modifier, literal)];
  } catch (error) {
    if (error instanceof InvalidFilter) throw invalidField(name, error.message);
    throw error;
  }
}

function relative(value: string, own: OwnBase): string {
  return value.startsWith(own) ? value.slice(own.length) : value;
}
