import type { Bot } from '@medplum/fhirtypes';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { nextDue, scheduleOf } from '../../../shared/schedule/schedule.ts';
import { cronWords } from './cron-words.ts';

/** A schedule as a person reads it. */
export interface SaidSchedule {
  /** "every weekday at 07:30" */
  words: string;
  /** IANA. */
  timezone: string;
  /** When it runs next, in ms since the epoch. */
  next: readonly number[];
}

/** What of a Bot says when it runs. */
export type Scheduled = Pick<Bot, 'cronString' | 'cronTiming' | 'extension'>;

const nextCount = 3;

/** By the code that the service itself goes by. @returns undefined without a schedule, or what is wrong with it */
export function saySchedule(bot: Scheduled, nowMs: number): SaidSchedule | { fault: string } | undefined {
  try {
    const schedule = scheduleOf(bot as unknown as Resource);
    const [clock] = schedule ?? [];
    if (!schedule || !clock) return undefined;
    const next: number[] = [];
    for (
      let ms = nextDue(schedule, nowMs);
      ms !== undefined && next.length < nextCount;
      ms = nextDue(schedule, ms)
    ) {
      next.push(ms);
    }
    const words = schedule.map(({ pattern }) => cronWords(pattern) ?? `by the cron expression ${pattern}`);
    return { words: words.join(', and '), timezone: clock.timezone, next };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { fault: error.issues.map(({ text }) => text).join(' ') };
  }
}
