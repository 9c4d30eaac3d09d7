import type { Bot, Extension } from '@medplum/fhirtypes';
import type { Api } from '../api/use-api.ts';

const timezoneUrl = 'urn:portico:extension:timezone';

/** What a person writes: a cron expression of five fields and a time zone. */
export interface Timetable {
  pattern: string;
  /** IANA. */
  timezone: string;
}

export function timezoneOf({ extension = [] }: Pick<Bot, 'extension'>): string | undefined {
  return extension.find(({ url }) => url === timezoneUrl)?.valueCode;
}

/** The Bot's extensions with another time zone. */
export function withTimezone({ extension = [] }: Pick<Bot, 'extension'>, timezone: string): Extension[] {
  return [...extension.filter(({ url }) => url !== timezoneUrl), { url: timezoneUrl, valueCode: timezone }];
}

/** Saves when a Bot runs; undefined ends its schedule. @throws what the service refused, a change by others too */
export async function saveSchedule(api: Api, bot: Bot, timetable: Timetable | undefined): Promise<void> {
  const patch: { op: string; path: string; value?: unknown }[] = [];
  if (bot.cronTiming) patch.push({ op: 'remove', path: '/cronTiming' });
  if (timetable) {
    patch.push({ op: 'add', path: '/cronString', value: timetable.pattern });
    patch.push({ op: 'add', path: '/extension', value: withTimezone(bot, timetable.timezone) });
  } else if (bot.cronString) patch.push({ op: 'remove', path: '/cronString' });
  await api.fetch(`fhir/R4/Bot/${bot.id}`, {
    method: 'PATCH',
    body: patch,
    contentType: 'application/json-patch+json',
    headers: { 'if-match': `W/"${bot.meta?.versionId}"` },
  });
}
