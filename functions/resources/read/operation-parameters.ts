import { isExactNumber } from '../../../shared/fhir/json.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';

/**
 * The parameters of an operation that was called by POST, as they would stand in the URL.
 * @param body Parameters; undefined without a body
 * @throws {Refusal} invalid
 */
export function operationParameters(body: unknown, query: URLSearchParams): URLSearchParams {
  if (body === undefined) return query;
  const { resourceType, parameter = [] } = fieldsOf(body);
  if (resourceType !== 'Parameters' || !Array.isArray(parameter)) {
    throw new Refusal('invalid', 'The body must be a Parameters resource');
  }
  const all = new URLSearchParams(query);
  for (const [i, one] of parameter.entries()) {
    const { name, ...rest } = fieldsOf(one);
    const [value] = Object.entries(rest).flatMap(([key, found]) => (key.startsWith('value') ? [found] : []));
    if (
      typeof name !== 'string' ||
      value === undefined ||
      (typeof value === 'object' && !isExactNumber(value))
    ) {
      throw invalidField(`Parameters.parameter[${i}]`, 'A parameter has a name and a primitive value');
    }
    all.append(name, isExactNumber(value) ? value.rawJSON : String(value));
  }
  return all;
}
