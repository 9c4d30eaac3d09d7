import type { Bot, Bundle, ProjectMembership } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type BotSettings, saveSettings, settingsOf } from './settings.ts';

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
