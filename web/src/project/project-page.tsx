import { useApi, useGet } from '../api/use-api.ts';
import { SecretsOf } from '../bots/settings-tab.tsx';
import { Card, CopyButton, Details, Loading } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { FormCard, useForm } from '../ui/form.tsx';
import { Page, Tabs } from '../ui/page.tsx';
import { ExportTab } from './export-tab.tsx';
import { IssuersTab } from './issuers-tab.tsx';

/** What an administrator sets for the whole Project. */
export function ProjectPage() {
  const { admin } = useApi();
  return (
    <Page title="Settings">
      <Tabs
        label="Settings of the project"
        tabs={{
          General: <GeneralTab />,
          Secrets: (
            <>
              <p className="muted">
                Every Bot of the project is given these. A secret of a Bot comes before one of the same name
                here.
              </p>
              <SecretsOf path={`${admin}/secrets`} />
            </>
          ),
          'Fetch hosts': <FetchHostsTab />,
          Issuers: <IssuersTab />,
          Limits: <LimitsTab />,
          Export: <ExportTab />,
        }}
      />
    </Page>
  );
}

const names: Record<string, string> = {
  invitesPerHour: 'Invites in an hour',
  invitationDays: 'Days that an invitation is open',
  executionDays: 'Days that records of runs are kept',
  concurrentRuns: 'Runs at once',
  treeRuns: 'Runs that one run may start, with all that follow',
  requestShare: 'Percent of what the service can do at once',
  subscriptions: 'Subscriptions',
  schedules: 'Bots with a schedule',
};

const features: Record<string, string> = {
  bots: 'Bots',
  cron: 'Schedules of Bots',
  subscriptions: 'Subscriptions',
  email: 'Mails to people whom it invites',
};

function LimitsTab() {
  return (
    <Loading of={useProject()}>
      {({ limits, features: allowed }) => (
        <Card label="Limits" className="card narrow">
          <Details
            of={Object.fromEntries(
              Object.entries(limits).map(([name, value]) => [names[name] ?? name, value.toLocaleString()]),
            )}
          />
          <h2>Features</h2>
          <Details
            of={Object.fromEntries(
              Object.entries(features).map(([name, words]) => [
                words,
                allowed.includes(name) ? 'on' : 'switched off',
              ]),
            )}
          />
          <p className="muted">
            Whoever operates the service changes them, with <code>npm run provision -- --project</code>.
          </p>
        </Card>
      )}
    </Loading>
  );
}

interface ProjectAnswer {
  project: { id: string; name?: string };
  senderName?: string;
  /** 0 where nobody can take emergency access. */
  emergencyMinutes: number;
  features: readonly string[];
  idleMinutes?: number;
  limits: Record<string, number>;
}

function useProject() {
  return useGet<ProjectAnswer>(useApi().admin);
}

function GeneralTab() {
  return <Loading of={useProject()}>{(answer) => <General answer={answer} />}</Loading>;
}

function General({ answer }: { answer: ProjectAnswer }) {
  const { admin, send } = useApi();
  const { project } = answer;
  const save = useForm(
    {
      name: project.name ?? '',
      senderName: answer.senderName ?? '',
      idleMinutes: String(answer.idleMinutes ?? ''),
      emergencyMinutes: String(answer.emergencyMinutes),
    },
    ({ idleMinutes: idle, emergencyMinutes: emergency, ...names }) =>
      send('POST', admin, {
        ...names,
        // What is no number is refused with the right words.
        idleMinutes: /^\d*$/.test(idle.trim()) ? Number(idle) : idle,
        emergencyMinutes: /^\d+$/.test(emergency.trim()) ? Number(emergency) : emergency,
      }),
  );
  return (
    <FormCard
      label="General"
      action={save}
      submit="Save"
      saved="Saved. Mails and sign-ins show it from now on; another time without use holds at once."
    >
      <Details of={{ 'Project id': <code>{project.id}</code> }} />
      <CopyButton text={project.id} label="Copy the project id" />
      <TextField label="Name" {...save.field('name')} isRequired>
        What people see when they sign in and in invitations.
      </TextField>
      <TextField label="Sender of mails" {...save.field('senderName')}>
        The name beside the address that mails come from. Leave it empty for the name of the project.
      </TextField>
      <TextField
        label="Sign people out after minutes without use"
        {...save.field('idleMinutes')}
        inputMode="numeric"
      >
        From 10 to 1440. Leave it empty for never. It does not hold for apps that may go on without their
        person (offline_access).
      </TextField>
      <TextField label="Minutes of emergency access" {...save.field('emergencyMinutes')} inputMode="numeric">
        How long it lasts for members who have a policy for emergencies. From 0, for nobody, to 480.
      </TextField>
    </FormCard>
  );
}

type FetchHosts = Partial<Record<'allow' | 'deny', string[]>>;

function FetchHostsTab() {
  const { admin } = useApi();
  return (
    <Loading of={useGet<FetchHosts>(`${admin}/fetch-hosts`)}>
      {(hosts) => <HostsForm hosts={hosts} />}
    </Loading>
  );
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
    <FormCard label="Fetch hosts" action={save} submit="Save" saved="Saved. It applies from the next run.">
      <p className="muted">
        Where Bots and webhooks of this project may send requests. Addresses inside the network are refused,
        whatever stands here.
      </p>
      <TextField label="Allowed hosts" rows={4} spellCheck="false" {...save.field('allow')}>
        One a line, such as api.example.org, or *.example.org for all below it. Empty: every public host.
      </TextField>
      <TextField label="Refused hosts" rows={3} spellCheck="false" {...save.field('deny')}>
        Refused even where they are allowed above.
      </TextField>
    </FormCard>
  );
}

function hostsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
