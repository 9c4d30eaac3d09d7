import type { Bot } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction, useApi, useGet } from '../api/use-api.ts';
import { Button, Empty, Failure, Loading, Notice } from '../ui/basics.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';

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
  const loaded = useGet<Secret[]>(path);
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
    return true;
  });
  const without = (gone: string) =>
    secrets.filter((one) => one.name !== gone).map((one) => ({ name: one.name }));
  const add = async () => {
    const said = `${name} is set. It applies from the next run.`;
    const list = [...without(name), { name, valueString: value }];
    if (!(await replace.run({ list, said }))) return;
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
