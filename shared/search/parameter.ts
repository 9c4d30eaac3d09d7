import { isLeftOut, type Parameter, parametersOf } from '../index/registry.ts';
import { invalidField } from '../refusal.ts';

/** @throws {Refusal} invalid */
export function requireParameter(type: string, code: string, name = code): Parameter {
  const parameter = parametersOf(type).get(code);
  if (parameter) return parameter;
  if (isLeftOut(type, code)) {
    throw invalidField(name, `The search parameter ${code} of ${type} is special: not supported`);
  }
  throw invalidField(name, `Unknown search parameter ${code} of ${type}`);
}
