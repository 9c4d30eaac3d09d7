import type { Bot, Extension } from '@medplum/fhirtypes';
import { useEffect, useMemo, useState } from 'react';
import { type Api, useAction, useApi } from '../api/use-api.ts';
import { Badge, Button, Failure, Notice } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import type { SaidSchedule, Scheduled } from './schedule-words.ts';

interface Props {
  bot: Bot;
  /** Why it has stopped by itself, if it has. */
  stopped: string | undefined;
  onChange(): void;
}

/** When the Bot runs by itself, in words; set, changed and ended here. */
export function ScheduleCard({ bot, stopped, onChange }: Props) {
  const api = useApi();
  const said = useSaidSchedule(bot);
  const isOn = Boolean(bot.cronString ?? bot.cronTiming);
  const [done, setDone] = useState<string>();
  const save = useAction(
    async (timetable: Timetable | undefined) => {
      setDone(undefined);
      await saveSchedule(api, bot, timetable);
      setDone(timetable ? 'Saved. It runs at these times from now on.' : 'The schedule is off.');
      onChange();
    },
    ['cronString', 'extension'],
  );
  return (
    <section className="card" aria-label="Schedule">
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
      <ScheduleForm
        key={`${bot.cronString} ${JSON.stringify(bot.extension)}`}
        bot={bot}
        isBusy={save.isBusy}
        fieldErrors={save.fieldErrors}
        onSave={save.run}
      >
        {isOn && (
          <Button kind="danger" isPending={save.isBusy} onPress={() => save.run(undefined)}>
            Turn the schedule off
          </Button>
        )}
      </ScheduleForm>
      <Failure message={save.message} />
      {done && <Notice kind="good">{done}</Notice>}
    </section>
  );
}

interface FormProps {
  bot: Bot;
  isBusy: boolean;
  fieldErrors: Record<string, string>;
  onSave(timetable: Timetable): void;
  children: React.ReactNode;
}

function ScheduleForm({ bot, isBusy, fieldErrors, onSave, children }: FormProps) {
  const [pattern, setPattern] = useState(bot.cronString ?? '');
  const [timezone, setTimezone] = useState(
    timezoneOf(bot) ?? (bot.cronString ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone),
  );
  const typed = useMemo(
    () => (pattern ? { cronString: pattern, extension: withTimezone({}, timezone) } : {}),
    [pattern, timezone],
  );
  const said = useSaidSchedule(typed);
  const isChanged = pattern !== (bot.cronString ?? '') || timezone !== (timezoneOf(bot) ?? 'UTC');
  return (
    <Form label="Schedule" fieldErrors={fieldErrors} onSubmit={() => onSave({ pattern, timezone })}>
      <div className="form-pair">
        <TextField
          label="Cron expression"
          name="cronString"
          help="Minute, hour, day, month, weekday: “30 7 * * 1-5” is every weekday at 07:30."
          isCode
          spellCheck="false"
          autoComplete="off"
          value={pattern}
          onChange={setPattern}
          isRequired
        />
        <TextField
          label="Time zone"
          name="extension"
          help="As Europe/Paris; clock changes are followed."
          spellCheck="false"
          autoComplete="off"
          value={timezone}
          onChange={setTimezone}
          isRequired
        />
      </div>
      {pattern !== '' && isChanged && (
        <div className="summary" aria-live="polite">
          <ScheduleText said={said} />
        </div>
      )}
      <div className="buttons">
        <Button type="submit" kind="primary" isPending={isBusy}>
          Save the schedule
        </Button>
        {children}
      </div>
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

/** A schedule in words, once what reads it is loaded. Keep `bot` in useMemo. */
function useSaidSchedule(bot: Scheduled): SaidSchedule | { fault: string } | undefined {
  const [said, setSaid] = useState<SaidSchedule | { fault: string }>();
  useEffect(() => {
    const gone = new AbortController();
    void import('./schedule-words.ts').then(({ saySchedule }) => {
      if (!gone.signal.aborted) setSaid(saySchedule(bot, Date.now()));
    });
    return () => gone.abort();
  }, [bot]);
  return said;
}

const timezoneUrl = 'urn:portico:extension:timezone';

/** What a person writes: a cron expression of five fields and a time zone. */
interface Timetable {
  pattern: string;
  /** IANA. */
  timezone: string;
}

function timezoneOf({ extension = [] }: Pick<Bot, 'extension'>): string | undefined {
  return extension.find(({ url }) => url === timezoneUrl)?.valueCode;
}

/** The Bot's extensions with another time zone. */
function withTimezone({ extension = [] }: Pick<Bot, 'extension'>, timezone: string): Extension[] {
  return [...extension.filter(({ url }) => url !== timezoneUrl), { url: timezoneUrl, valueCode: timezone }];
}

/** Saves when a Bot runs; undefined ends its schedule. @throws what the service refused, a change by others too */
async function saveSchedule(api: Api, bot: Bot, timetable: Timetable | undefined): Promise<void> {
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
