import { useEffect, useState } from 'react';
import { useAction, useApi } from '../api/use-api.ts';
import { useObserved } from '../session/observable.ts';
import { isExternal } from '../session/session.ts';
import { useSession } from '../session/session-state.ts';
import { ActionButton, Card, counted, Failure, Sentences } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { useForm } from '../ui/form.tsx';
import { ConfirmedButton } from '../ui/page.tsx';
import type { Emergency } from './emergency.ts';

const tickMs = 60_000;

/** The emergency access of whoever is signed in; `prepared` is undefined for whom there is none. */
export function useEmergency() {
  const { me, emergency } = useSession();
  const { get, send } = useApi();
  const [prepared, setPrepared] = useState(me.emergency);
  const [nowMs, setNowMs] = useState(Date.now);
  const isPrepared = prepared !== undefined;
  const isActive = prepared?.active !== undefined;
  const isSaid = useObserved(emergency.isOn);
  // It may begin or end in another tab, by an administrator, or by the clock of the service, which decides.
  useEffect(() => {
    if (!isPrepared && !isSaid) return;
    const gone = new AbortController();
    const ask = () => {
      setNowMs(Date.now());
      get<{ emergency?: Emergency }>('auth/me', gone.signal).then(
        (answer) => setPrepared(answer.emergency),
        () => undefined,
      );
    };
    ask();
    const asking = isActive ? setInterval(ask, tickMs) : undefined;
    return () => {
      gone.abort();
      clearInterval(asking);
    };
  }, [get, isPrepared, isActive, isSaid]);
  const leftMs = prepared?.active ? Date.parse(prepared.active.until) - nowMs : 0;
  const take = async (asked: { reason: string; password?: string }) => {
    setPrepared(await send<Emergency>('POST', 'auth/emergency', asked));
    setNowMs(Date.now());
  };
  const end = useAction(async () => {
    await send('DELETE', 'auth/emergency');
    setPrepared((before) => before && { ...before, active: undefined });
  });
  return { prepared, minutesLeft: isActive ? Math.max(1, Math.ceil(leftMs / 60_000)) : 0, take, end };
}

/** On every page while emergency access goes on: how long still, and the way to end it. */
export function EmergencyBar({ emergency }: { emergency: ReturnType<typeof useEmergency> }) {
  const { minutesLeft, end } = emergency;
  if (minutesLeft === 0) return null;
  return (
    <Card label="Emergency access" className="notice notice-bad">
      <p>
        <strong>You have emergency access for {counted(minutesLeft, 'minute')}.</strong> What you read and
        change is recorded.
      </p>
      <ActionButton label="End now" action={end} />
      <Failure message={end.message} />
    </Card>
  );
}

/** For whom emergency access is prepared: what it opens, who is told, and the reason that they give. */
export function TakeEmergency({ emergency }: { emergency: ReturnType<typeof useEmergency> }) {
  const { prepared, minutesLeft, take } = emergency;
  const form = useForm({ reason: '', password: '' }, ({ reason, password }) =>
    take({ reason, ...(password ? { password } : {}) }),
  );
  const session = useSession();
  if (!prepared || minutesLeft > 0) return null;
  return (
    <ConfirmedButton
      label="Emergency access"
      kind="quiet"
      deed="Take emergency access"
      act={form.send}
      onClose={form.clearFields}
    >
      <p>For {prepared.minutes} minutes you may also:</p>
      <Sentences of={prepared.opens} />
      <p>
        The administrators are told by e-mail at once. The reason, and everything that you read and change, is
        recorded.
      </p>
      <TextField label="Why do you need it?" rows={3} {...form.field('reason')} isRequired>
        At least ten characters.
      </TextField>
      {!isExternal(session) && (
        <PasswordField label="Your password" {...form.field('password')}>
          It is asked for when you signed in more than five minutes ago.
        </PasswordField>
      )}
    </ConfirmedButton>
  );
}
