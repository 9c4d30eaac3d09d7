import { invalidField } from '../../shared/refusal.ts';
import { type TimeBounds, timeBounds } from '../../shared/search/entries/time-bounds.ts';
import type { Filter } from '../../shared/search/filter.ts';
import { parseSearch } from '../../shared/search/search-request.ts';
import { parsePage } from './parameters.ts';

/** R4 audit-event-outcome by word. */
const outcomes: Readonly<Record<string, string>> = { success: '0', failure: '4', unknown: '8' };

/** The parameters of `$logs`, as those of a search of AuditEvent. */
const named: Readonly<Record<string, string>> = { outcome: 'outcome', date: 'date', requester: 'agent' };

export interface WantedExecutions {
  filters: readonly Filter[];
  /** Instants between which the runs lie, as far as `date` says. */
  bounds: TimeBounds;
  count: number;
  cursor: string | undefined;
  /** Equal for equal filters. */
  canonical: string;
}

/** @throws {Refusal} invalid, an unknown parameter too */
export function parseExecutions(query: URLSearchParams): WantedExecutions {
  const search = new URLSearchParams();
  const traces: Filter[] = [];
  for (const [name, value] of query) {
    if (name === '_count' || name === '_cursor') continue;
    if (name === 'trace') {
      traces.push(traceFilter(value));
      continue;
    }
    const parameter = Object.hasOwn(named, name) ? named[name] : undefined;
    if (parameter === undefined) throw invalidField(name, `Unknown parameter ${name} of $logs`);
    search.append(parameter, name === 'outcome' ? outcomeCode(value) : value);
  }
  const { filters, canonical } = parseSearch('AuditEvent', search);
  return {
    ...parsePage(query),
    filters: [...filters, ...traces],
    canonical: [canonical, ...traces.map(({ name }) => name)].join(),
    bounds: timeBounds(filters),
  };
}

/** The runs of one trace. It is no parameter of AuditEvent, and stands in its details. */
function traceFilter(trace: string): Filter {
  return {
    name: `trace=${trace}`,
    matches: ({ entity }) =>
      ((entity ?? []) as { detail?: { type: string; valueString?: string }[] }[]).some(({ detail = [] }) =>
        detail.some(({ type, valueString }) => type === 'trace' && valueString === trace),
      ),
    ...{ stretches: undefined, rank: 9, parameters: [], alternatives: 1 },
  };
}

function outcomeCode(value: string): string {
  const code = Object.hasOwn(outcomes, value) ? outcomes[value] : value;
  if (code !== undefined && Object.values(outcomes).includes(code)) return code;
  throw invalidField('outcome', 'outcome must be success, failure or unknown');
}
