import type { ClientApplication } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Moment } from '../ui/moment.tsx';

interface Props {
  client: ClientApplication;
  /** Undefined when there is one secret only. */
  until: string | undefined;
  onEnded(): void;
}

/** The secret before, while it is good too. */
export function OldSecret({ client, until, onEnded }: Props) {
  const { admin, send } = useApi();
  const [isAsking, setAsking] = useState(false);
  const end = useAction(async () => {
    await send('POST', `${admin}/client/${client.id}`, { endOldSecret: true });
    setAsking(false);
    onEnded();
  });
  if (until === undefined) return null;
  return (
    <div className="notice">
      <p>
        Two secrets work: the old one until <Moment at={until} />.
      </p>
      <Button onPress={() => setAsking(true)}>End the old secret now</Button>
      <Confirm
        isOpen={isAsking}
        title="End the old secret?"
        deed="End it"
        isBusy={end.isBusy}
        message={end.message}
        onConfirm={() => end.run()}
        onClose={() => {
          setAsking(false);
          end.clear();
        }}
      >
        <p>Programs that still have the old secret get no new tokens.</p>
      </Confirm>
    </div>
  );
}
