import type { SaidSchedule } from './schedule-words.ts';

/** "Every weekday at 07:30, Europe/Paris; next: …" */
export function ScheduleText({ said }: { said: SaidSchedule | { fault: string } | undefined }) {
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
