import type { ClientApplication } from '@medplum/fhirtypes';
import { useEffect, useRef, useState } from 'react';
import { useAction, useApi } from '../api/use-api.ts';
import { Button, CopyButton, Moment } from '../ui/basics.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Select } from '../ui/fields.tsx';
import type { NewClient } from './client.ts';

interface OldSecretProps {
  client: ClientApplication;
  /** Undefined when there is one secret only. */
  until: string | undefined;
  onEnded(): void;
}

/** The secret before, while it is good too. */
export function OldSecret({ client, until, onEnded }: OldSecretProps) {
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

const keeping = [
  { value: '0', label: 'stops working at once' },
  { value: '1', label: 'works for 1 more hour' },
  { value: '24', label: 'works for 1 more day' },
  { value: '168', label: 'works for 7 more days' },
] as const;

type Keeping = (typeof keeping)[number]['value'];

interface RotateSecretProps {
  client: ClientApplication;
  onRotated(): void;
}

/** Gives a key a new secret, after saying what that means, and shows it this once. */
export function RotateSecret({ client, onRotated }: RotateSecretProps) {
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

/** A key's new secret, this once: only its hash is stored. A public app has none. */
export function NewSecret({ client: { id, secret }, title }: { client: NewClient; title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'center' });
    heading.current?.focus();
  }, []);
  return (
    <section className="card notice-good" aria-labelledby="new-secret">
      <h2 id="new-secret" ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>
        {secret
          ? 'This is the only time that the secret is shown. Whoever has it can act as this key.'
          : 'It is a public app: it signs people in with its id, and has no secret.'}
      </p>
      <div>
        <p className="legend">Client id</p>
        <code className="secret">{id}</code>
      </div>
      {secret ? (
        <>
          <div>
            <p className="legend">Client secret</p>
            <code className="secret">{secret}</code>
          </div>
          <CopyButton text={secret} label="Copy the secret" />
        </>
      ) : (
        <CopyButton text={id} label="Copy the client id" />
      )}
    </section>
  );
}
