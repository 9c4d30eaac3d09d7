import type { Bot, Extension } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { ActionButton, Badge, Card, Notice } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import type { SaidSchedule, Scheduled } from './schedule-words.ts';

/** When the Bot runs by itself, in words; set, changed and ended here. */
export function ScheduleCard({ bot, stopped }: { bot: Bot; stopped: string | undefined }) {
  const said = useSaidSchedule(bot);
  const isOn = Boolean(bot.cronString ?? bot.cronTiming);
  return (
    <Card label="Schedule">
      <div className="card-head">
        <h2>Schedule</h2>
        <Badge kind={isOn ? (stopped ? 'bad' : 'good') : 'plain'}>
          {isOn ? (stopped ? 'Stopped' : 'On') : 'Off'}
        </Badge>
      </div>
      {isOn && stopped && (
        <Notice kind="bad">It has stopped by itself: {stopped}. Put that right, then save it again.</Notice>
      )}
      {isOn && !stopped && <ScheduleText said={said} />}
      {!isOn && <p className="muted">The Bot does not run by itself at set times.</p>}
      <ScheduleForm bot={bot} isOn={isOn} />
    </Card>
  );
}

function ScheduleForm({ bot, isOn }: { bot: Bot; isOn: boolean }) {
  const api = useApi();
  const [isEnded, setEnded] = useState(false);
  const saved = { cronString: bot.cronString ?? '', extension: timezoneOf(bot) ?? 'UTC' };
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const begin = { ...saved, extension: timezoneOf(bot) ?? (bot.cronString ? 'UTC' : here) };
  /** @throws what the service refused, a change by others too */
  const change = (operations: object[]) => {
    const patch = [...(bot.cronTiming ? [{ op: 'remove', path: '/cronTiming' }] : []), ...operations];
    return api.change('PATCH', `fhir/R4/Bot/${bot.id}`, patch, bot.meta?.versionId);
  };
  const save = useForm(begin, ({ cronString, extension }) => {
    setEnded(false);
    end.clear();
    const set = { op: 'add', path: '/cronString', value: cronString };
    return change([set, { op: 'add', path: '/extension', value: withTimezone(bot, extension) }]);
  });
  const end = useAction(async () => {
    save.clear();
    await change(bot.cronString ? [{ op: 'remove', path: '/cronString' }] : []);
    save.change({ cronString: '' });
    setEnded(true);
  });
  const { cronString, extension: timezone } = save.values;
  const said = useSaidSchedule(cronString ? { cronString, extension: withTimezone({}, timezone) } : {});
  const isChanged = cronString !== saved.cronString || timezone !== saved.extension;
  return (
    <Form
      label="Schedule"
      action={{ ...save, message: save.message ?? end.message }}
      submit="Save the schedule"
      saved="Saved. It runs at these times from now on."
      beside={isOn && <ActionButton label="Turn the schedule off" kind="danger" action={end} />}
    >
      <div className="form-pair">
        <TextField label="Cron expression" isCode {...save.field('cronString')} isRequired>
          Minute, hour, day, month, weekday: “30 7 * * 1-5” is every weekday at 07:30.
        </TextField>
        <TextField label="Time zone" spellCheck="false" {...save.field('extension')} isRequired>
          As Europe/Paris; clock changes are followed.
        </TextField>
      </div>
      {cronString !== '' && isChanged && (
        <div className="summary" aria-live="polite">
          <ScheduleText said={said} />
        </div>
      )}
      {isEnded && <Notice kind="good">The schedule is off.</Notice>}
    </Form>
  );
}

/** "Every weekday at 07:30, Europe/Paris; next: …" */
function ScheduleText({ said }: { said: SaidSchedule | { fault: string } | undefined }) {
  if (!said) return null;
  if ('fault' in said) return <p>{said.fault}.</p>;
  const { words, timezone, next } = said;
  const [first, ...later] = next;
  return (
    <>
      <p>
        <strong>{words.charAt(0).toUpperCase() + words.slice(1)}</strong>, {timezone}
        {first !== undefined && <>; next: {momentIn(first, timezone)}</>}
      </p>
      {later.length > 0 && (
        <p className="muted">then {later.map((ms) => momentIn(ms, timezone)).join('; ')}</p>
      )}
    </>
  );
}

function momentIn(ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(ms);
}

function useSaidSchedule({ cronString, cronTiming, extension }: Scheduled) {
  const schedule = { cronString, cronTiming, extension };
  return useLoad(JSON.stringify(schedule), async () => {
    const { saySchedule } = await import('./schedule-words.ts');
    return saySchedule(schedule as Scheduled, Date.now());
  }).value;
}

const timezoneUrl = 'urn:portico:extension:timezone';

function timezoneOf({ extension = [] }: Pick<Bot, 'extension'>): string | undefined {
  return extension.find(({ url }) => url === timezoneUrl)?.valueCode;
}

function withTimezone({ extension = [] }: Pick<Bot, 'extension'>, timezone: string): Extension[] {
  return [...extension.filter(({ url }) => url !== timezoneUrl), { url: timezoneUrl, valueCode: timezone }];
}
