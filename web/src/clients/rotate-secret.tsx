import type { ClientApplication } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Select } from '../ui/select.tsx';
import type { NewClient } from './new-client-form.tsx';
import { NewSecret } from './new-secret.tsx';

const keeping = [
  { value: '0', label: 'stops working at once' },
  { value: '1', label: 'works for 1 more hour' },
  { value: '24', label: 'works for 1 more day' },
  { value: '168', label: 'works for 7 more days' },
] as const;

type Keeping = (typeof keeping)[number]['value'];

interface Props {
  client: ClientApplication;
  onRotated(): void;
}

/** Gives a key a new secret, after saying what that means, and shows it this once. */
export function RotateSecret({ client, onRotated }: Props) {
  const { admin, send } = useApi();
  const [isAsking, setAsking] = useState(false);
  const [rotated, setRotated] = useState<NewClient>();
  const [keepOldHours, setKeepOldHours] = useState<Keeping>('24');
  const name = client.name ?? 'this key';
  const rotate = useAction(async () => {
    setRotated(
      await send<NewClient>('POST', `${admin}/client/${encodeURIComponent(client.id ?? '')}/secret`, {
        keepOldHours: Number(keepOldHours),
      }),
    );
    setAsking(false);
    onRotated();
  });
  return (
    <>
      {rotated && <NewSecret key={rotated.secret} client={rotated} title={`${name} has a new secret`} />}
      <div>
        <Button onPress={() => setAsking(true)}>New secret</Button>
      </div>
      <Confirm
        isOpen={isAsking}
        title={`A new secret for ${name}?`}
        deed="Replace the secret"
        isBusy={rotate.isBusy}
        message={rotate.message}
        onConfirm={() => rotate.run()}
        onClose={() => {
          setAsking(false);
          rotate.clear();
        }}
      >
        <Select label="The old secret" value={keepOldHours} options={keeping} onChange={setKeepOldHours} />
        <ul>
          {keepOldHours === '0' ? (
            <li>Programs that have the old secret are locked out at once: they get no new tokens with it.</li>
          ) : (
            <li>Both secrets work meanwhile. A secret that is older still stops working at once.</li>
          )}
          <li>Tokens that they hold stay good until they end, within an hour.</li>
          <li>The new secret is shown once.</li>
        </ul>
      </Confirm>
    </>
  );
}
