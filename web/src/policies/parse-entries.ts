import type { AccessPolicyResource } from '@medplum/fhirtypes';
import { errorText } from '../../../shared/error-name.ts';

/** The JSON of the editor. @throws {Error} with what is wrong and where */
export function parseEntries(text: string): AccessPolicyResource[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${errorText(error)}`);
  }
  if (!Array.isArray(value)) throw new Error('The policy must be a list of entries: [ … ].');
  for (const [index, entry] of value.entries()) {
    if (typeof entry?.resourceType !== 'string') throw new Error(`Entry ${index + 1} has no resourceType.`);
  }
  return value;
}
