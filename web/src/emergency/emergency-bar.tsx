import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notice.tsx';
import type { useEmergency } from './use-emergency.ts';

/** On every page while emergency access goes on: how long still, and the way to end it. */
export function EmergencyBar({ emergency }: { emergency: ReturnType<typeof useEmergency> }) {
  const { minutesLeft, end } = emergency;
  if (minutesLeft === 0) return null;
  return (
    <section className="notice notice-bad" aria-label="Emergency access">
      <p>
        <strong>
          You have emergency access for {minutesLeft === 1 ? '1 minute' : `${minutesLeft} minutes`}.
        </strong>{' '}
        What you read and change is recorded.
      </p>
      <Button isPending={end.isBusy} onPress={() => void end.run()}>
        End now
      </Button>
      <Failure message={end.message} />
    </section>
  );
}
