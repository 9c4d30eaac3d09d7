import { createHash } from 'node:crypto';
import { servedParameterSets } from './registry.ts';
import { searchParameters, usCoreParameters } from './search-parameters.ts';

/** To be raised when index items are made in another way from the same parameters. */
const form = 6;

/** Names what index items resources have in this release: another name, other items. */
export function indexVersion(): string {
  const sets = servedParameterSets();
  const text = JSON.stringify([form, searchParameters, ...(sets === '' ? [] : [sets, usCoreParameters])]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}
