import { parseDate } from '../../../shared/index/date.ts';
import { isResourceType } from '../../../shared/index/registry.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';

/** What an export is asked for with. */
export interface ExportRequest {
  /** Undefined for all that the caller may have. */
  types: readonly string[] | undefined;
  since: string | undefined;
  history: boolean;
  code: boolean;
  people: boolean;
}

const formats = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson']);
const associated = new Set(['_history', '_code', '_people']);
const known = new Set(['_outputFormat', '_type', '_since', 'includeAssociatedData', '_format', '_pretty']);

/**
 * The parameters of FHIR Bulk Data's `$export`. One that is not known is refused, never passed over: what came would
 * be more than was asked for.
 * @param nowMs ms since the epoch: nothing is exported since a later instant
 * @throws {Refusal} invalid
 */
export function parseExport(
  query: URLSearchParams,
  prefer: string | undefined,
  nowMs: number,
): ExportRequest {
  if (!/(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(prefer ?? '')) {
    throw new Refusal('invalid', 'An export goes on without its caller: send Prefer: respond-async');
  }
  for (const name of query.keys()) {
    if (!known.has(name)) throw invalidField(name, `An export has no parameter ${name}`);
  }
  // A plus sign in a query string may arrive as a space.
  const format = query.get('_outputFormat')?.replace(' ', '+');
  if (format !== undefined && !formats.has(format)) {
    throw invalidField('_outputFormat', 'An export is application/fhir+ndjson');
  }
  const more = listed(query, 'includeAssociatedData') ?? [];
  const unknown = more.find((one) => !associated.has(one));
  if (unknown !== undefined) {
    throw invalidField(
      'includeAssociatedData',
      `includeAssociatedData is one of ${[...associated].join(', ')}`,
    );
  }
  return {
    types: typesIn(query),
    since: sinceIn(query, nowMs),
    history: more.includes('_history'),
    code: more.includes('_code'),
    people: more.includes('_people'),
  };
}

function typesIn(query: URLSearchParams): string[] | undefined {
  const types = listed(query, '_type');
  const wrong = types?.find((type) => !isResourceType(type) || type === 'User');
  if (wrong !== undefined) throw invalidField('_type', `${wrong} is no resource type of a Project`);
  if (types?.length === 0) throw invalidField('_type', '_type names resource types');
  return types;
}

/** Writes that were under way when an export began may be in neither: they take no longer than this. */
const overlapMs = 30_000;

function sinceIn(query: URLSearchParams, nowMs: number): string | undefined {
  const text = query.get('_since');
  if (text === null) return undefined;
  const range = /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text.replace(' ', '+'))
    ? parseDate(text.replace(' ', '+'))
    : undefined;
  if (!range) throw invalidField('_since', '_since must be an instant, such as 2026-01-31T12:00:00Z');
  const fromMs = Date.parse(range.low) - overlapMs;
  if (fromMs > nowMs) throw invalidField('_since', '_since must not be in the future');
  return new Date(fromMs).toISOString();
}

function listed(query: URLSearchParams, name: string): string[] | undefined {
  if (!query.has(name)) return undefined;
  return [...new Set(query.getAll(name).join().split(',').filter(Boolean))];
}
