import type { Bot, Bundle, Identifier, ProjectMembership } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { type Api, useAction, useApi, useLoad } from '../api/use-api.ts';
import { Button, Failure, Link, Loading, Notice } from '../ui/basics.tsx';
import { Switch, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';

/** Name, identifiers and limits of a Bot, and where its rights and its schedule are set. */
export function SettingsTab({ bot, onChange }: { bot: Bot; onChange(): void }) {
  const api = useApi();
  const load = useCallback(
    async (signal: AbortSignal) => {
      const [now, memberships] = await Promise.all([
        api.get<Bot>(`fhir/R4/Bot/${bot.id}`, signal),
        api.get<Bundle<ProjectMembership>>(`fhir/R4/ProjectMembership?profile=Bot/${bot.id}`, signal),
      ]);
      return { bot: now, membership: memberships.entry?.[0]?.resource };
    },
    [api, bot.id],
  );
  const loaded = useLoad(load);
  const [done, setDone] = useState(false);
  return (
    <Loading of={loaded}>
      {(value) => (
        <section className="card narrow" aria-label="Settings">
          <SettingsForm
            key={value.bot.meta?.versionId}
            bot={value.bot}
            onSaving={() => setDone(false)}
            onSaved={() => {
              setDone(true);
              loaded.reload();
              onChange();
            }}
          />
          {done && <Notice kind="good">Saved. It applies from the next run.</Notice>}
          {value.membership && (
            <p>
              Access policy:{' '}
              {value.membership.accessPolicy?.display ?? value.membership.accessPolicy?.reference ?? 'none'}.{' '}
              <Link href={`/members/${value.membership.id}`}>What it may do</Link>
            </p>
          )}
          <p>
            <Link href={`/bots/${bot.id}?tab=Triggers`}>Its schedule and Subscriptions</Link>
          </p>
        </section>
      )}
    </Loading>
  );
}

interface FormProps {
  bot: Bot;
  onSaving(): void;
  onSaved(): void;
}

function SettingsForm({ bot, onSaving, onSaved }: FormProps) {
  const api = useApi();
  const [settings, setSettings] = useState(() => settingsOf(bot));
  const change = (some: Partial<BotSettings>) => setSettings({ ...settings, ...some });
  const save = useAction(async () => {
    onSaving();
    await saveSettings(api, bot, settings);
    onSaved();
  }, ['name', 'description', 'identifier', 'timeout', 'memory']);
  return (
    <Form label="Settings" fieldErrors={save.fieldErrors} onSubmit={() => save.run()}>
      <TextField
        label="Name"
        name="name"
        value={settings.name}
        onChange={(name) => change({ name })}
        isRequired
      />
      <TextField
        label="Description"
        name="description"
        value={settings.description}
        onChange={(description) => change({ description })}
      />
      <TextField
        label="Identifiers"
        name="identifier"
        rows={3}
        isCode
        spellCheck="false"
        help="One per line, as https://example.org/bots|name. Senders can name the Bot by them."
        value={settings.identifiers}
        onChange={(identifiers) => change({ identifiers })}
      />
      <div className="form-pair">
        <TextField
          label="Time limit in seconds"
          name="timeout"
          inputMode="numeric"
          help="10 when empty. At most 25, or 840 for asynchronous runs."
          value={settings.timeout}
          onChange={(timeout) => change({ timeout })}
        />
        <TextField
          label="Memory in MiB"
          name="memory"
          inputMode="numeric"
          help="Empty: 128. From 16 to 512."
          value={settings.memory}
          onChange={(memory) => change({ memory })}
        />
      </div>
      <Switch
        isSelected={settings.runAsUser}
        onChange={(runAsUser) => change({ runAsUser })}
        help="It may then do only what both it and its caller may do."
      >
        Run within the rights of the caller
      </Switch>
      <Failure message={save.message} />
      <div className="buttons">
        <Button type="submit" kind="primary" isPending={save.isBusy}>
          Save the settings
        </Button>
      </div>
    </Form>
  );
}

/** What a person sets of a Bot, as it stands in the fields; an empty text is the service's own default. */
interface BotSettings {
  name: string;
  description: string;
  /** One a line, `system|value`. */
  identifiers: string;
  /** Seconds. */
  timeout: string;
  /** MiB. */
  memory: string;
  runAsUser: boolean;
}

type Limited = Bot & { memory?: number };

function settingsOf(bot: Limited): BotSettings {
  const { name = '', description = '', identifier = [], timeout, memory, runAsUser = false } = bot;
  return {
    ...{ name, description, runAsUser },
    identifiers: identifier.map(({ system = '', value = '' }) => `${system}|${value}`).join('\n'),
    timeout: timeout === undefined ? '' : String(timeout),
    memory: memory === undefined ? '' : String(memory),
  };
}

/** Saves them. @throws what the service refused, a change by others meanwhile too */
async function saveSettings(api: Api, bot: Limited, settings: BotSettings): Promise<void> {
  const { name, description, identifiers, timeout, memory, runAsUser } = settings;
  const known = bot.identifier ?? [];
  const {
    timeout: _timeout,
    memory: _memory,
    description: _description,
    identifier: _identifier,
    ...kept
  } = bot;
  const lines = identifiers.split('\n').filter((line) => line.trim() !== '');
  const body = {
    ...kept,
    ...{ name: name.trim(), runAsUser },
    ...(description.trim() ? { description: description.trim() } : {}),
    ...(lines.length > 0 ? { identifier: lines.map((line) => identifierOf(line, known)) } : {}),
    ...(timeout.trim() ? { timeout: Number(timeout) } : {}),
    ...(memory.trim() ? { memory: Number(memory) } : {}),
  };
  await api.send('PUT', `fhir/R4/Bot/${bot.id}`, body, { 'if-match': `W/"${bot.meta?.versionId}"` });
}

/** What else an identifier says is kept with it. */
function identifierOf(line: string, known: readonly Identifier[]): Identifier {
  const [, system = '', value = ''] = /^(?:(.*)\|)?([^|]*)$/.exec(line.trim()) ?? [];
  const same = known.find((one) => (one.system ?? '') === system && one.value === value);
  return same ?? { ...(system ? { system } : {}), value };
}
