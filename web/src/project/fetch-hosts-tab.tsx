import { useApi, useGet } from '../api/use-api.ts';
import { Loading } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { ActionForm, useForm } from '../ui/form.tsx';

interface FetchHosts {
  allow?: string[];
  deny?: string[];
}

/** Where the Bots of the Project may fetch from. */
export function FetchHostsTab() {
  const { admin } = useApi();
  const loaded = useGet<FetchHosts>(`${admin}/fetch-hosts`);
  return <Loading of={loaded}>{(hosts) => <HostsForm hosts={hosts} />}</Loading>;
}

function HostsForm({ hosts }: { hosts: FetchHosts }) {
  const { admin, send } = useApi();
  const save = useForm(
    { allow: (hosts.allow ?? []).join('\n'), deny: (hosts.deny ?? []).join('\n') },
    async ({ allow, deny }) => {
      const allowed = hostsIn(allow);
      const denied = hostsIn(deny);
      await send('POST', `${admin}/fetch-hosts`, {
        ...(allowed.length > 0 ? { allow: allowed } : {}),
        ...(denied.length > 0 ? { deny: denied } : {}),
      });
    },
  );
  return (
    <section className="card narrow" aria-label="Fetch hosts">
      <p className="muted">
        Where Bots and webhooks of this project may send requests. Addresses inside the network are refused,
        whatever stands here.
      </p>
      <ActionForm
        label="Fetch hosts"
        action={save}
        submit="Save"
        saved="Saved. It applies from the next run."
      >
        <TextField
          label="Allowed hosts"
          rows={4}
          spellCheck="false"
          help="One a line, such as api.example.org, or *.example.org for all below it. Empty: every public host."
          {...save.field('allow')}
        />
        <TextField
          label="Refused hosts"
          rows={3}
          spellCheck="false"
          help="Refused even where they are allowed above."
          {...save.field('deny')}
        />
      </ActionForm>
    </section>
  );
}

function hostsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
