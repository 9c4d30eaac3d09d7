import { allOk } from '../../../shared/http/outcome.ts';
import type { BundleEntry } from '../read/bundle.ts';
import type { Outcome } from '../write/write.ts';

/** Statuses of R4 http by what became of the write. */
export const outcomeStatus = { created: 201, updated: 200, deleted: 200, unchanged: 200 } as const;

/** Where the state that a write made is read. */
export function locationOf(baseUrl: string, { type, id, resource }: Outcome): string {
  const version = resource ? `/_history/${resource.meta.versionId}` : '';
  return `${baseUrl}/fhir/R4/${type}/${id}${version}`;
}

/** What became of a write, as an entry of a response Bundle. */
export function entryOfOutcome(baseUrl: string, outcome: Outcome): BundleEntry {
  const { kind, type, id, resource, shown } = outcome;
  const status = String(outcomeStatus[kind]);
  if (!resource) return { response: { status, outcome: allOk() } };
  const { versionId, lastUpdated } = resource.meta;
  return {
    fullUrl: `${baseUrl}/fhir/R4/${type}/${id}`,
    ...(shown ? { resource: shown } : {}),
    response: {
      status,
      location: locationOf(baseUrl, outcome),
      etag: `W/"${versionId}"`,
      lastModified: lastUpdated,
    },
  };
}
