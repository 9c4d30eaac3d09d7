import type { Bot, Bundle, Identifier, ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useApi, useGet, useLoad } from '../api/use-api.ts';
import { Card, Link, Loading, Notice } from '../ui/basics.tsx';
import { PasswordField, Switch, TextField } from '../ui/fields.tsx';
import { Form, FormCard, useForm } from '../ui/form.tsx';
import { Rows } from '../ui/lists.tsx';
import { ConfirmedButton } from '../ui/page.tsx';

/** Name, identifiers and limits of a Bot, and where its rights and its schedule are set. */
export function SettingsTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const loaded = useLoad(`${bot.id}`, async (signal) => {
    const [now, memberships] = await Promise.all([
      api.get<Bot>(`fhir/R4/Bot/${bot.id}`, signal),
      api.get<Bundle<ProjectMembership>>(`fhir/R4/ProjectMembership?profile=Bot/${bot.id}`, signal),
    ]);
    return { bot: now, membership: memberships.entry?.[0]?.resource };
  });
  return (
    <Loading of={loaded}>
      {({ bot: now, membership }) => (
        <Card label="Settings" className="card narrow">
          <SettingsForm bot={now} />
          {membership && (
            <p>
              Access policy:{' '}
              {membership.accessPolicy?.display ?? membership.accessPolicy?.reference ?? 'none'}.{' '}
              <Link href={`/members/${membership.id}`}>What it may do</Link>
            </p>
          )}
          <p>
            <Link href={`/bots/${bot.id}?tab=Triggers`}>Its schedule and Subscriptions</Link>
          </p>
        </Card>
      )}
    </Loading>
  );
}

function SettingsForm({ bot }: { bot: Limited }) {
  const { change } = useApi();
  const { timeout: _time, memory: _size, description: _text, identifier: known = [], ...kept } = bot;
  const save = useForm(
    () => settingsOf(bot),
    ({ name, description, identifier, timeout, memory, runAsUser }) => {
      const lines = identifier.split('\n').filter((line) => line.trim() !== '');
      const body = {
        ...kept,
        ...{ name: name.trim(), runAsUser },
        ...(description.trim() ? { description: description.trim() } : {}),
        ...(lines.length > 0 ? { identifier: lines.map((line) => identifierOf(line, known)) } : {}),
        ...(timeout.trim() ? { timeout: Number(timeout) } : {}),
        ...(memory.trim() ? { memory: Number(memory) } : {}),
      };
      return change('PUT', `fhir/R4/Bot/${bot.id}`, body, bot.meta?.versionId);
    },
  );
  return (
    <Form
      label="Settings"
      action={save}
      submit="Save the settings"
      saved="Saved. It applies from the next run."
    >
      <TextField label="Name" {...save.field('name')} isRequired />
      <TextField label="Description" {...save.field('description')} />
      <TextField label="Identifiers" rows={3} isCode {...save.field('identifier')}>
        One per line, as https://example.org/bots|name. Senders can name the Bot by them.
      </TextField>
      <div className="form-pair">
        <TextField label="Time limit in seconds" inputMode="numeric" {...save.field('timeout')}>
          10 when empty. At most 25, or 840 for asynchronous runs.
        </TextField>
        <TextField label="Memory in MiB" inputMode="numeric" {...save.field('memory')}>
          Empty: 128. From 16 to 512.
        </TextField>
      </div>
      <Switch label="Run within the rights of the caller" {...save.toggle('runAsUser')}>
        It may then do only what both it and its caller may do.
      </Switch>
    </Form>
  );
}

type Limited = Bot & { memory?: number };

/** What a person sets of a Bot, as it stands in the fields; an empty text is the service's own default. */
function settingsOf({ name = '', description = '', identifier = [], timeout, memory, runAsUser }: Limited) {
  return {
    ...{ name, description, runAsUser: runAsUser === true },
    /** One a line, `system|value`. */
    identifier: identifier.map(({ system = '', value = '' }) => `${system}|${value}`).join('\n'),
    /** Seconds. */
    timeout: String(timeout ?? ''),
    /** MiB. */
    memory: String(memory ?? ''),
  };
}

/** What else an identifier says is kept with it. */
function identifierOf(line: string, known: readonly Identifier[]): Identifier {
  const [, system = '', value = ''] = /^(?:(.*)\|)?([^|]*)$/.exec(line.trim()) ?? [];
  const same = known.find((one) => (one.system ?? '') === system && one.value === value);
  return same ?? { ...(system ? { system } : {}), value };
}

interface Secret {
  name: string;
  valueString?: string;
}

/**
 * Values that a Bot, or each of the Project's, gets as `event.secrets`. They can be replaced and taken away, never read.
 * @param props.path of the API
 */
export function SecretsOf({ path }: { path: string }) {
  return (
    <Loading of={useGet<Secret[]>(path)}>{(secrets) => <Secrets path={path} secrets={secrets} />}</Loading>
  );
}

function Secrets({ path, secrets }: { path: string; secrets: Secret[] }) {
  const { change } = useApi();
  const [done, setDone] = useState<string>();
  // A secret that is sent by its name alone keeps its value.
  const replace = async (gone: string, added: Secret[], said: string) => {
    setDone(undefined);
    const others = secrets.filter(({ name }) => name !== gone).map(({ name }) => ({ name }));
    await change('POST', path, [...others, ...added]);
    setDone(said);
  };
  const set = useForm({ name: '', value: '' }, async ({ name, value }) => {
    await replace(name, [{ name, valueString: value }], `${name} is set. It applies from the next run.`);
    set.clearFields();
  });
  return (
    <>
      {done && <Notice kind="good">{done}</Notice>}
      <Rows
        label="Secrets"
        of={secrets}
        keyOf={({ name }) => name}
        empty="No secrets"
        row={({ name }) => (
          <>
            <code className="row-main">{name}</code>
            <ConfirmedButton
              label="Remove"
              name={`Remove ${name}`}
              deed={`Remove ${name}`}
              act={() => replace(name, [], `${name} is removed.`)}
            >
              <p>
                From its next run on, the Bot no longer gets this value, and fails if it needs it. Nobody can
                read the value back: to undo this, you need it from elsewhere.
              </p>
            </ConfirmedButton>
          </>
        )}
      />
      <FormCard label="Set a secret" action={set} submit="Set the secret">
        <TextField label="Name" {...set.field('name')} isRequired />
        <PasswordField label="Value" {...set.field('value')} isRequired autoComplete="off">
          Nobody can read it back. A name that is there already gets the new value.
        </PasswordField>
      </FormCard>
    </>
  );
}
