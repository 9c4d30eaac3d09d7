import { stringifyJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { type InlineType, requireInlineSize } from './inline-types.ts';
import { packText } from './packing.ts';

/**
 * The attributes of a head that follow from its resource: of those that have no versions.
 * @throws {Refusal} unprocessable, when it is longer than such a resource may be
 */
export function headAttributes(type: InlineType, resource: Resource) {
  const text = stringifyJson(resource);
  requireInlineSize(type, Buffer.byteLength(text));
  const { versionId, lastUpdated } = resource.meta;
  return { versionId, lastUpdated, content: packText(text) };
}
