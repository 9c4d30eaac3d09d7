import type { Bundle, ProjectMembership } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { type Api, useApi, useLoad } from '../api/use-api.ts';
import { Badge, Empty, Link, Loading, Moment } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { type AllAttention, type Attention, loadAttention } from './attention.ts';

/** The first page: what to do first in an empty Project, and what needs somebody's attention in any. */
export function OverviewPage() {
  return (
    <Page title="Overview">
      <StepsCard />
      <AttentionCard />
    </Page>
  );
}

const bad: ReadonlySet<Attention['kind']> = new Set(['Bot', 'Delivery', 'Emergency access']);

/** What needs somebody's attention, each line leading to its place. */
function AttentionCard() {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => loadAttention(api, signal), [api]);
  const loaded = useLoad(load);
  return (
    <section className="stack" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <Loading of={loaded}>{(all) => <Items {...all} />}</Loading>
    </section>
  );
}

function Items({ items, missing }: AllAttention) {
  return (
    <>
      {items.length === 0 ? (
        <Empty title="Nothing needs your attention">
          <p>
            Bots and deliveries that failed in the last 24 hours are listed here, invitations that expire
            within two days, API keys that were never used, and emergency access of the last 30 days.
          </p>
        </Empty>
      ) : (
        <ul className="rows" aria-label="Needs attention">
          {items.map((item) => (
            <li className="row" key={`${item.kind} ${item.href}`}>
              <Line {...item} />
            </li>
          ))}
        </ul>
      )}
      {missing.map((text) => (
        <p className="muted" key={text}>
          {text}
        </p>
      ))}
    </>
  );
}

function Line({ kind, name, what, at, href }: Attention) {
  return (
    <>
      <div className="row-main">
        <Link className="link row-title" href={href}>
          {name}
        </Link>
        <span className="row-more">
          {what} {at !== undefined && <Moment at={at} />}
        </span>
      </div>
      <Badge kind={bad.has(kind) ? 'bad' : 'waiting'}>{kind}</Badge>
    </>
  );
}

/** What is done first in a Project, until all of it is done. */
function StepsCard() {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => loadSteps(api, signal), [api]);
  const loaded = useLoad(load);
  return (
    <Loading of={loaded}>
      {(steps) => (steps.every(({ isDone }) => isDone) ? null : <Steps steps={steps} />)}
    </Loading>
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
      <ol className="rows" aria-label="First steps">
        {steps.map((step) => (
          <li className="row" key={step.title}>
            <div className="row-main">
              <span className="row-title">{step.title}</span>
              {!step.isDone && <span className="row-more">{step.why}</span>}
            </div>
            {step.isDone ? (
              <Badge kind="good">Done</Badge>
            ) : (
              <Link className={`button button-${step === next ? 'primary' : 'plain'}`} href={step.href}>
                {step.deed}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Something that is done first in a Project. */
interface Step {
  title: string;
  why: string;
  href: string;
  deed: string;
  isDone: boolean;
}

const people = 'Practitioner,Patient,RelatedPerson';

/** What is done first, in its order, and what of it is done. Two requests. */
async function loadSteps(api: Api, signal: AbortSignal): Promise<Step[]> {
  const types = ['AccessPolicy', 'Bot', 'ClientApplication'];
  const [batch, members] = await Promise.all([
    api.send<Bundle<Bundle>>('POST', 'fhir/R4', {
      ...{ resourceType: 'Bundle', type: 'batch' },
      entry: types.map((type) => ({ request: { method: 'GET', url: `${type}?_count=1&_elements=id` } })),
    }),
    api.get<Bundle<ProjectMembership>>(`${api.admin}/members?profile-type=${people}&_count=2`, signal),
  ]);
  const [hasPolicy, hasBot, hasKey] = types.map((_, at) => hasAny(batch.entry?.[at]?.resource));
  return [
    {
      title: 'Write an access policy',
      why: 'It says what a person or a program may read and write. Without one, members have the default rights of their role.',
      href: '/policies/new',
      deed: 'Create a policy',
      isDone: hasPolicy === true,
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
      isDone: hasBot === true,
    },
    {
      title: 'Create an API key',
      why: 'With it a program of yours signs in, calls Bots, and reads and writes records.',
      href: '/clients',
      deed: 'Create an API key',
      isDone: hasKey === true,
    },
  ];
}

function hasAny(found: Bundle | undefined): boolean {
  return (found?.entry?.length ?? 0) > 0;
}
