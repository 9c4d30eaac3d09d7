import type { Resource } from '../../shared/fhir/resource.ts';
import { cutParts, type Packed } from '../../shared/table/content.ts';
import type { Item } from '../../shared/table/table.ts';
import type { BinaryContent } from './write.ts';

interface State {
  resource: Resource;
  packed: Packed;
}

/**
 * The state of a Binary with its bytes, in parts beside the resource. When only the resource was
 * sent the bytes stay those of the version before.
 */
export function withBytes(
  project: string,
  state: State,
  content: BinaryContent | undefined,
  before?: Item,
): State {
  const { resource, packed } = state;
  if (resource.resourceType !== 'Binary') return state;
  if (!content)
    return { resource, packed: { ...packed, attributes: { ...packed.attributes, ...bytesOf(before) } } };
  const parts = cutParts(project, resource, content.bytes);
  const attributes = {
    ...packed.attributes,
    byteParts: parts.length,
    byteSize: content.bytes.length,
    bytesOf: resource.meta.versionId,
  };
  return { resource, packed: { ...packed, attributes, parts: [...packed.parts, ...parts] } };
}

function bytesOf(item: Item | undefined): Record<string, unknown> {
  return { byteParts: item?.byteParts ?? 0, byteSize: item?.byteSize ?? 0, bytesOf: item?.bytesOf ?? '' };
}
