import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { TextField } from '../ui/text-field.tsx';
import type { useEmergency } from './use-emergency.ts';

/** For whom emergency access is prepared: what it opens, who is told, and the reason that they give. */
export function TakeEmergency({ emergency }: { emergency: ReturnType<typeof useEmergency> }) {
  const { prepared, minutesLeft, take } = emergency;
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  if (!prepared || minutesLeft > 0) return null;
  const close = () => {
    setAsking(false);
    setReason('');
    take.clear();
  };
  return (
    <>
      <Button kind="quiet" onPress={() => setAsking(true)}>
        Emergency access
      </Button>
      <Confirm
        isOpen={isAsking}
        title="Take emergency access?"
        deed="Take emergency access"
        isBusy={take.isBusy}
        message={take.message}
        onConfirm={async () => {
          if (await take.run(reason)) close();
        }}
        onClose={close}
      >
        <p>For {prepared.minutes} minutes you may also:</p>
        <ul>
          {prepared.opens.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
        <p>
          The administrators are told by e-mail at once. The reason, and everything that you read and change,
          is recorded.
        </p>
        <TextField
          label="Why do you need it?"
          help="At least ten characters."
          value={reason}
          onChange={setReason}
          rows={3}
          isRequired
        />
      </Confirm>
    </>
  );
}
