import type { Bot } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Form } from '../ui/form.tsx';
import { Empty, Loading } from '../ui/loading.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { PasswordField } from '../ui/password-field.tsx';
import { TextField } from '../ui/text-field.tsx';

interface Secret {
  name: string;
  valueString?: string;
}

/** Values that the Bot gets as `event.secrets`. They can be replaced and taken away, never read. */
export function SecretsTab({ bot }: { bot: Bot }) {
  const { admin } = useApi();
  return <SecretsOf path={`${admin}/bot/${bot.id}/secrets`} />;
}

/** Those of a Bot, or of all Bots of the Project. @param props.path of the API */
export function SecretsOf({ path }: { path: string }) {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => api.get<Secret[]>(path, signal), [api, path]);
  const loaded = useLoad(load);
  return (
    <Loading of={loaded}>
      {(secrets) => <Secrets path={path} secrets={secrets} onChange={loaded.reload} />}
    </Loading>
  );
}

function Secrets({ path, secrets, onChange }: { path: string; secrets: Secret[]; onChange(): void }) {
  const { send } = useApi();
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [done, setDone] = useState<string>();
  const [removing, setRemoving] = useState('');
  // A secret that is sent by its name alone keeps its value.
  const replace = useAction(async ({ list, said }: { list: Secret[]; said: string }) => {
    setDone(undefined);
    await send('POST', path, list);
    setDone(said);
    onChange();
  });
  const without = (gone: string) =>
    secrets.filter((one) => one.name !== gone).map((one) => ({ name: one.name }));
  const add = async () => {
    const said = `${name} is set. It applies from the next run.`;
    await replace.run({ list: [...without(name), { name, valueString: value }], said });
    setName('');
    setValue('');
  };
  const remove = async () => {
    await replace.run({ list: without(removing), said: `${removing} is removed.` });
    setRemoving('');
  };
  return (
    <>
      <Confirm
        isOpen={removing !== ''}
        title={`Remove ${removing}?`}
        deed={`Remove ${removing}`}
        isBusy={replace.isBusy}
        message={replace.message}
        onConfirm={() => void remove()}
        onClose={() => setRemoving('')}
      >
        <p>
          From its next run on, the Bot no longer gets this value, and fails if it needs it. Nobody can read
          the value back: to undo this, you need it from elsewhere.
        </p>
      </Confirm>
      <Failure message={removing === '' ? replace.message : undefined} />
      {done && <Notice kind="good">{done}</Notice>}
      {secrets.length === 0 ? (
        <Empty title="No secrets" />
      ) : (
        <ul className="rows" aria-label="Secrets">
          {secrets.map((secret) => (
            <li className="row" key={secret.name}>
              <code className="row-main">{secret.name}</code>
              <Button
                kind="danger"
                aria-label={`Remove ${secret.name}`}
                onPress={() => setRemoving(secret.name)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div className="card narrow">
        <Form label="Set a secret" onSubmit={add}>
          <TextField label="Name" value={name} onChange={setName} isRequired autoComplete="off" />
          <PasswordField
            label="Value"
            help="Nobody can read it back. A name that is there already gets the new value."
            value={value}
            onChange={setValue}
            isRequired
            autoComplete="off"
          />
          <div>
            <Button type="submit" kind="primary" isPending={replace.isBusy}>
              Set the secret
            </Button>
          </div>
        </Form>
      </div>
    </>
  );
}
