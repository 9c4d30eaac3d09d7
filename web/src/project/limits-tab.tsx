import { Details } from '../ui/details.tsx';
import { Loading } from '../ui/loading.tsx';
import { useProject } from './use-project.ts';

const names: Record<string, string> = {
  invitesPerHour: 'Invites in an hour',
  invitationDays: 'Days that an invitation is open',
  executionDays: 'Days that records of runs are kept',
  concurrentRuns: 'Runs at once',
  treeRuns: 'Runs that one run may start, with all that follow',
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
export function LimitsTab() {
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
