import type { Caller } from '../../../shared/access/access-token.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import type { Services } from '../../../shared/services.ts';
import { readBytes } from '../../../shared/store/binary-content.ts';
import { readResource } from './read-resource.ts';

/** A Binary with its bytes. */
export interface ReadBinary {
  resource: Resource;
  bytes: Buffer;
}

/** @throws {Refusal} not-found, gone, forbidden */
export async function readBinary(
  services: Services,
  caller: Caller,
  wanted: { id: string; versionId?: string },
): Promise<ReadBinary> {
  const { resource, item } = await readResource(services, caller, { type: 'Binary', ...wanted });
  return { resource, bytes: await readBytes(services.table, caller.project, resource.id, item) };
}

/** The resource as FHIR has it, its bytes in `data`. */
export function withData({ resource, bytes }: ReadBinary): Resource {
  return resource.data === undefined ? { ...resource, data: bytes.toString('base64') } : resource;
}
