import type { Bundle, ProjectMembership } from '@medplum/fhirtypes';
import { profileTypes } from '../../../shared/base/resource.ts';
import { type Api, useApi, useLoad } from '../api/use-api.ts';
import { Badge, ButtonLink, Card, Loading, Moment } from '../ui/basics.tsx';
import { Row, Rows } from '../ui/lists.tsx';
import { Page } from '../ui/page.tsx';
import { type AllAttention, type Attention, loadAttention } from './attention.ts';

/** The first page: what to do first in an empty Project, and what needs somebody's attention in any. */
export function OverviewPage() {
  const api = useApi();
  const steps = useLoad('steps', (signal) => loadSteps(api, signal));
  const attention = useLoad('attention', (signal) => loadAttention(api, signal));
  return (
    <Page title="Overview">
      <Loading of={steps}>
        {(all) => (all.every(({ isDone }) => isDone) ? null : <Steps steps={all} />)}
      </Loading>
      <Card title="Needs attention" className="stack">
        <Loading of={attention}>{(all) => <Items {...all} />}</Loading>
      </Card>
    </Page>
  );
}

const bad: ReadonlySet<Attention['kind']> = new Set(['Bot', 'Delivery', 'Emergency access']);

function Items({ items, missing }: AllAttention) {
  return (
    <>
      <Rows
        label="Needs attention"
        of={items}
        keyOf={({ kind, href }) => `${kind} ${href}`}
        empty="Nothing needs your attention"
        hint="Bots and deliveries that failed in the last 24 hours are listed here, invitations that expire within two days, API keys that were never used, and emergency access of the last 30 days."
        row={({ kind, name, what, at, href }) => (
          <Row
            title={name}
            href={href}
            more={[
              <>
                {what} {at !== undefined && <Moment at={at} />}
              </>,
            ]}
            side={<Badge kind={bad.has(kind) ? 'bad' : 'waiting'}>{kind}</Badge>}
          />
        )}
      />
      {missing.map((text) => (
        <p className="muted" key={text}>
          {text}
        </p>
      ))}
    </>
  );
}

function Steps({ steps }: { steps: readonly Step[] }) {
  const next = steps.find(({ isDone }) => !isDone);
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section className="stack" aria-labelledby="first-steps">
      <h2 id="first-steps">
        First steps{' '}
        <span className="muted">
          {done} of {steps.length} done
        </span>
      </h2>
      <Rows
        label="First steps"
        of={steps}
        isOrdered
        keyOf={({ title }) => title}
        row={(step) => {
          const { title, why, href, deed, isDone } = step;
          const lead = <ButtonLink label={deed} href={href} kind={step === next ? 'primary' : 'plain'} />;
          return (
            <Row
              title={title}
              more={[isDone ? undefined : why]}
              side={isDone ? <Badge kind="good">Done</Badge> : lead}
            />
          );
        }}
      />
    </section>
  );
}

type Step = Awaited<ReturnType<typeof loadSteps>>[number];

/** What is done first, in its order, and what of it is done. Two requests. */
async function loadSteps(api: Api, signal: AbortSignal) {
  const types = ['AccessPolicy', 'Bot', 'ClientApplication'];
  const [batch, members] = await Promise.all([
    api.send<Bundle<Bundle>>('POST', 'fhir/R4', {
      ...{ resourceType: 'Bundle', type: 'batch' },
      entry: types.map((type) => ({ request: { method: 'GET', url: `${type}?_count=1&_elements=id` } })),
    }),
    api.get<Bundle<ProjectMembership>>(
      `${api.admin}/members?profile-type=${profileTypes.join()}&_count=2`,
      signal,
    ),
  ]);
  const [hasPolicy, hasBot, hasKey] = types.map((_, at) => batch.entry?.[at]?.resource?.entry?.length);
  return [
    {
      title: 'Write an access policy',
      why: 'It says what a person or a program may read and write. Without one, members have the default rights of their role.',
      href: '/policies/new',
      deed: 'Create a policy',
      isDone: Boolean(hasPolicy),
    },
    {
      title: 'Invite somebody',
      why: 'They get an e-mail with a link, and have the rights of the policy that you choose.',
      href: '/invite',
      deed: 'Invite somebody',
      // The first one is whoever reads this.
      isDone: (members.entry?.length ?? 0) > 1,
    },
    {
      title: 'Create a Bot',
      why: 'A Bot is code of yours that runs when a message arrives, a record changes or a schedule says so.',
      href: '/bots/new',
      deed: 'Create a Bot',
      isDone: Boolean(hasBot),
    },
    {
      title: 'Create an API key',
      why: 'With it a program of yours signs in, calls Bots, and reads and writes records.',
      href: '/clients',
      deed: 'Create an API key',
      isDone: Boolean(hasKey),
    },
  ];
}
