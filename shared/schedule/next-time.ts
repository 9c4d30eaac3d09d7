import { Cron } from 'croner';

/** A cron expression of five fields, in a time zone. */
export interface Clock {
  pattern: string;
  /** IANA. */
  timezone: string;
}

const minuteMs = 60_000;
/** Longer than clocks are ever put back. */
const longestRepeatMs = 3 * 60 * minuteMs;

/**
 * When a clock strikes next after an instant, both in ms since the epoch; undefined when it never does. A
 * fixed local time that is skipped in spring strikes an hour later, one that comes twice in autumn once;
 * with `*` for the hour it goes by elapsed time.
 */
export function nextTime(clock: Clock, afterMs: number): number | undefined {
  const cron = open(clock);
  const nextMs = nextRun(cron, afterMs);
  if (clock.pattern.trim().split(/\s+/)[1] !== '*') return nextMs;
  // The library leaves out an hour that comes twice.
  const untilMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, afterMs + longestRepeatMs);
  for (let ms = (Math.floor(afterMs / minuteMs) + 1) * minuteMs; ms < untilMs; ms += minuteMs) {
    if (cron.match(new Date(ms))) return ms;
  }
  return nextMs;
}

/** In an hour that comes twice the library answers times of its first coming, which are over. */
function nextRun(cron: Cron, afterMs: number): number | undefined {
  for (let fromMs = afterMs; fromMs <= afterMs + longestRepeatMs; fromMs += 30 * minuteMs) {
    const nextMs = cron.nextRun(new Date(fromMs))?.getTime();
    if (nextMs === undefined || nextMs > afterMs) return nextMs;
  }
  return undefined;
}

/** What is wrong with a pattern; undefined when nothing is. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.length > 100 || pattern.trim().split(/\s+/).length !== 5) {
    return 'It must be a cron expression of five fields: minute, hour, day, month, weekday';
  }
  try {
    const next = open({ pattern, timezone: 'UTC' }).nextRun(new Date());
    return next ? undefined : 'It never comes';
  } catch {
    return 'It is no cron expression';
  }
}

export function isTimezone(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > 64) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function open({ pattern, timezone }: Clock): Cron {
  return new Cron(pattern.trim(), { timezone, mode: '5-part', paused: true });
}
