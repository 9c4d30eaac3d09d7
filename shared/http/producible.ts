import { Refusal } from '../refusal.ts';
import type { HttpRequest } from './request.ts';

const isExportFile = /\/bulkdata\/export\/\{id\}\/\{file\}$/;

/** Media ranges that JSON answers. */
const ranges = new Set(['*/*', 'application/*', 'application/json', 'application/fhir+json', 'text/json']);
/** What `_format` may say (R4 http, content types); a plus sign in a query string may arrive as a space. */
const formats = new Set(['json', 'application/json', 'application/fhir+json', 'text/json']);

/**
 * R4 http, content types: who accepts nothing that the FHIR API speaks, JSON of R4, is told so before
 * anything is done. `_format` is asked instead of `Accept`. A Binary, a file of an export, and what a Bot answers,
 * have types of their own.
 * @throws {Refusal} not-acceptable; unsupported-media-type for a body of another FHIR release
 */
export function requireProducible({ method, route, params, query, headers }: HttpRequest): void {
  if (!/^[A-Z]+ \/fhir\/R4(?:\/|$)/.test(route) || route.endsWith('/$execute')) return;
  if (isOtherRelease(headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'The FHIR version of the body must be 4.0');
  }
  if (method === 'GET' && (params.resourceType === 'Binary' || isExportFile.test(route))) return;
  const format = query.get('_format');
  const isAccepted =
    format === null
      ? (headers.accept || '*/*').split(',').some(isRange)
      : formats.has(mediaType(format).replace(' ', '+')) && !isOtherRelease(format);
  if (isAccepted) return;
  throw new Refusal('not-acceptable', 'Answers are application/fhir+json of FHIR 4.0');
}

function isRange(range: string): boolean {
  return ranges.has(mediaType(range)) && !isOtherRelease(range) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(range);
}

function mediaType(text: string): string {
  return text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function isOtherRelease(type: string): boolean {
  const version = /;\s*fhirVersion\s*=\s*"?([^";,\s]*)/i.exec(type)?.[1];
  return version !== undefined && !/^4\.0(?:\.|$)/.test(version);
}
