import type { Bot } from '@medplum/fhirtypes';
import { useMemo, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';
import { saveSchedule, type Timetable, timezoneOf, withTimezone } from './schedule.ts';
import { ScheduleText } from './schedule-text.tsx';
import { useSaidSchedule } from './use-said-schedule.ts';

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
