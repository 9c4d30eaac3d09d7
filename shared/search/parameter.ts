import { isLeftOut, type Parameter, parametersOf } from '../index/registry.ts';
import { invalidField } from '../refusal.ts';

/** Why what the definitions name is not served, by type: distances, and parameters that are not R4's. */
const reasons: Readonly<Record<string, string>> = {
  ClientApplication: 'issuers are settings of a Project',
  Location: 'distances are not measured, search by address',
  ResearchStudy: 'it is of R5, and its parts are no parameters of R4',
};

/** @throws {Refusal} invalid */
export function requireParameter(type: string, code: string, name = code): Parameter {
  const parameter = parametersOf(type).get(code);
  if (parameter) return parameter;
  if (isLeftOut(type, code)) {
    const reason = reasons[type] ?? 'it is no parameter of R4';
    throw invalidField(name, `The search parameter ${code} of ${type} is not supported: ${reason}`);
  }
  throw invalidField(name, `Unknown search parameter ${code} of ${type}`);
}
