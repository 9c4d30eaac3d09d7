import type { Resource } from '@medplum/fhirtypes';

/** A record as JSON to be read or written by a person, without what the service stamps on each version. */
export function textOf(resource: Resource): string {
  const { meta, ...fields } = resource as Resource & { meta?: Record<string, unknown> };
  const { versionId: _version, lastUpdated: _at, author: _author, project: _project, ...own } = meta ?? {};
  const shown = Object.keys(own).length > 0 ? { ...fields, meta: own } : fields;
  return JSON.stringify(shown, undefined, 2);
}
