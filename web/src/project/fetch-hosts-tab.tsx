import { useCallback, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Loading } from '../ui/loading.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';

interface FetchHosts {
  allow?: string[];
  deny?: string[];
}

/** Where the Bots of the Project may fetch from. */
export function FetchHostsTab() {
  const api = useApi();
  const load = useCallback(
    (signal: AbortSignal) => api.get<FetchHosts>(`${api.admin}/fetch-hosts`, signal),
    [api],
  );
  const loaded = useLoad(load);
  return <Loading of={loaded}>{(hosts) => <HostsForm hosts={hosts} />}</Loading>;
}

function HostsForm({ hosts }: { hosts: FetchHosts }) {
  const { admin, send } = useApi();
  const [allow, setAllow] = useState((hosts.allow ?? []).join('\n'));
  const [deny, setDeny] = useState((hosts.deny ?? []).join('\n'));
  const [isSaved, setSaved] = useState(false);
  const save = useAction(async () => {
    setSaved(false);
    const allowed = hostsIn(allow);
    const denied = hostsIn(deny);
    await send('POST', `${admin}/fetch-hosts`, {
      ...(allowed.length > 0 ? { allow: allowed } : {}),
      ...(denied.length > 0 ? { deny: denied } : {}),
    });
    setSaved(true);
  }, ['allow', 'deny']);
  const changed = (set: (text: string) => void) => (text: string) => {
    set(text);
    setSaved(false);
  };
  return (
    <section className="card narrow" aria-label="Fetch hosts">
      <p className="muted">
        Where Bots and webhooks of this project may send requests. Addresses inside the network are refused,
        whatever stands here.
      </p>
      <Form label="Fetch hosts" fieldErrors={save.fieldErrors} onSubmit={() => save.run()}>
        <TextField
          label="Allowed hosts"
          name="allow"
          rows={4}
          spellCheck="false"
          help="One a line, such as api.example.org, or *.example.org for all below it. Empty: every public host."
          value={allow}
          onChange={changed(setAllow)}
        />
        <TextField
          label="Refused hosts"
          name="deny"
          rows={3}
          spellCheck="false"
          help="Refused even where they are allowed above."
          value={deny}
          onChange={changed(setDeny)}
        />
        <Failure message={save.message} />
        {isSaved && <Notice kind="good">Saved. It applies from the next run.</Notice>}
        <div>
          <Button type="submit" kind="primary" isPending={save.isBusy}>
            Save
          </Button>
        </div>
      </Form>
    </section>
  );
}

function hostsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
