import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import type { Client } from './client.ts';

/** Takes the secret from an app that cannot keep one, after saying what that means. */
export function MakePublic({ client, onMade }: { client: Client; onMade(): void }) {
  const { send } = useApi();
  const [isAsking, setAsking] = useState(false);
  const name = client.name ?? 'this key';
  const make = useAction(async () => {
    const path = `fhir/R4/ClientApplication/${encodeURIComponent(client.id ?? '')}`;
    await send('PUT', path, { ...client, public: true });
    setAsking(false);
    onMade();
  });
  return (
    <>
      <div>
        <Button onPress={() => setAsking(true)}>Make it a public app</Button>
      </div>
      <Confirm
        isOpen={isAsking}
        title={`Make ${name} a public app?`}
        deed="Make it public"
        isBusy={make.isBusy}
        message={make.message}
        onConfirm={() => make.run()}
        onClose={() => {
          setAsking(false);
          make.clear();
        }}
      >
        <ul>
          <li>For an app in a browser or on a phone: it signs people in with its id alone.</li>
          <li>Its secret is removed, and programs that have it are locked out.</li>
        </ul>
      </Confirm>
    </>
  );
}
