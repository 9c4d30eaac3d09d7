import { useApi, useGet } from '../api/use-api.ts';
import { SecretsOf } from '../bots/secrets-tab.tsx';
import { CopyButton, Details, Loading } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { ActionForm, useForm } from '../ui/form.tsx';
import { Page, Tabs } from '../ui/page.tsx';
import { ExportTab } from './export-tab.tsx';
import { FetchHostsTab } from './fetch-hosts-tab.tsx';
import { IssuersTab } from './issuers-tab.tsx';

/** What an administrator sets for the whole Project. */
export function ProjectPage() {
  const { admin } = useApi();
  return (
    <Page title="Settings">
      <Tabs
        label="Settings of the project"
        tabs={[
          ['General', <GeneralTab key="general" />],
          ['Secrets', <ProjectSecrets key="secrets" path={`${admin}/secrets`} />],
          ['Fetch hosts', <FetchHostsTab key="hosts" />],
          ['Issuers', <IssuersTab key="issuers" />],
          ['Limits', <LimitsTab key="limits" />],
          ['Export', <ExportTab key="export" />],
        ]}
      />
    </Page>
  );
}

function ProjectSecrets({ path }: { path: string }) {
  return (
    <>
      <p className="muted">
        Every Bot of the project is given these. A secret of a Bot comes before one of the same name here.
      </p>
      <SecretsOf path={path} />
    </>
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

/** The numbers that hold for the Project, and what it may do. */
function LimitsTab() {
  const loaded = useProject();
  return (
    <Loading of={loaded}>
      {({ limits, features: allowed }) => (
        <section className="card narrow" aria-label="Limits">
          <Details
            items={Object.entries(limits).map(([name, value]) => [
              names[name] ?? name,
              value.toLocaleString(),
            ])}
          />
          <h2>Features</h2>
          <Details
            items={Object.entries(features).map(([name, words]) => [
              words,
              allowed.includes(name) ? 'on' : 'switched off',
            ])}
          />
          <p className="muted">
            Whoever operates the service changes them, with <code>npm run provision -- --project</code>.
          </p>
        </section>
      )}
    </Loading>
  );
}

/** `GET admin/projects/<id>` */
interface ProjectAnswer {
  project: { id: string; name?: string };
  senderName?: string;
  /** 0 where nobody can take emergency access. */
  emergencyMinutes: number;
  /** What it may do. */
  features: readonly string[];
  idleMinutes?: number;
  limits: Record<string, number>;
}

function useProject() {
  return useGet<ProjectAnswer>(useApi().admin);
}

/** Name, sender, when people are signed out, and how long emergency access lasts. */
function GeneralTab() {
  const loaded = useProject();
  return <Loading of={loaded}>{(answer) => <General answer={answer} />}</Loading>;
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
    <section className="card narrow" aria-label="General">
      <Details items={[['Project id', <code key="id">{project.id}</code>]]} />
      <CopyButton text={project.id} label="Copy the project id" />
      <ActionForm
        label="General"
        action={save}
        submit="Save"
        saved="Saved. Mails and sign-ins show it from now on; another time without use holds at once."
      >
        <TextField
          label="Name"
          help="What people see when they sign in and in invitations."
          {...save.field('name')}
          isRequired
          autoComplete="off"
        />
        <TextField
          label="Sender of mails"
          help="The name beside the address that mails come from. Leave it empty for the name of the project."
          {...save.field('senderName')}
          autoComplete="off"
        />
        <TextField
          label="Sign people out after minutes without use"
          help="From 10 to 1440. Leave it empty for never. It does not hold for apps that may go on without their person (offline_access)."
          {...save.field('idleMinutes')}
          inputMode="numeric"
          autoComplete="off"
        />
        <TextField
          label="Minutes of emergency access"
          help="How long it lasts for members who have a policy for emergencies. From 0, for nobody, to 480."
          {...save.field('emergencyMinutes')}
          inputMode="numeric"
          autoComplete="off"
        />
      </ActionForm>
    </section>
  );
}
