import type { Filter } from '../filter.ts';

/** Instants between which a value of time lies, both inside. */
export interface TimeBounds {
  from?: string;
  to?: string;
}

/**
 * Between which instants the hits of a search of AuditEvents lie, as far as `date` and `_lastUpdated`
 * tell. Wider than what is asked does no harm: every hit is matched again.
 */
export function timeBounds(filters: readonly Filter[]): TimeBounds {
  const bounds: TimeBounds = {};
  const raise = (instant: string) => {
    if (bounds.from === undefined || instant > bounds.from) bounds.from = instant;
  };
  const lower = (instant: string) => {
    if (bounds.to === undefined || instant < bounds.to) bounds.to = instant;
  };
  for (const { parameters, range } of filters) {
    if (!range || !parameters.every(({ code }) => code === 'date' || code === '_lastUpdated')) continue;
    if (/^(eq|gt|ge|sa)$/.test(range.prefix)) raise(range.low);
    if (/^(eq|lt|le|eb)$/.test(range.prefix)) lower(range.high);
  }
  return bounds;
}
