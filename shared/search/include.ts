import { isResourceType, type Parameter } from '../index/registry.ts';
import { invalidField } from '../refusal.ts';
import { requireParameter } from './parameter.ts';

/** One `_include` or `_revinclude`: what comes with the hits. */
export interface Include {
  kind: 'include' | 'revinclude';
  /** The type that holds the reference. */
  type: string;
  parameter: Parameter;
  /** Only references to this type. */
  target: string | undefined;
  /** Also from what was included. */
  iterates: boolean;
}

/** @throws {Refusal} invalid */
export function parseInclude(searched: string, name: string, value: string): Include {
  const [type = '', code = '', target, ...rest] = value.split(':');
  const kind = name.startsWith('_rev') ? 'revinclude' : 'include';
  const iterates = name.endsWith(':iterate');
  if (!isResourceType(type) || code === '' || code === '*' || rest.length > 0) {
    throw invalidField(name, `${name} must be Type:parameter or Type:parameter:Type`);
  }
  if (target !== undefined && !isResourceType(target)) {
    throw invalidField(name, `${target} is not a resource type`);
  }
  if (kind === 'include' && !iterates && type !== searched) {
    throw invalidField(name, `${name} must begin with the searched type, ${searched}`);
  }
  const parameter = requireParameter(type, code, name);
  if (parameter.type !== 'reference') throw invalidField(name, `${code} of ${type} is no reference`);
  return { kind, type, parameter, target, iterates };
}
