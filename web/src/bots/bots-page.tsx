import type { Bot, Parameters } from '@medplum/fhirtypes';
import { useLocation, useSearchParams } from 'wouter';
import { partsOf } from '../api/fhir.ts';
import { useApi, useGet, useLoad } from '../api/use-api.ts';
import { useSearch } from '../api/use-pages.ts';
import type { Failures } from '../overview/attention.ts';
import { TriggersTab } from '../triggers/triggers-tab.tsx';
import { ButtonLink, counted, Loading, Moment } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { FormCard, useForm } from '../ui/form.tsx';
import { PagedList, Row } from '../ui/lists.tsx';
import { DeleteResource, Page, Tabs } from '../ui/page.tsx';
import { type Choice, type PickedPolicy, PolicyPicker, referenceOf } from '../ui/resource-picker.tsx';
import { ExecutionsTab } from './executions.tsx';
import { SecretsOf, SettingsTab } from './settings-tab.tsx';
import { VersionsTab } from './versions.tsx';
import { Workbench } from './workbench.tsx';

export function BotsPage() {
  const pages = useSearch<Bot>('fhir/R4/Bot?_count=20&_sort=name');
  const { value: runs } = useGet<Failures>(`${useApi().admin}/failures`);
  return (
    <Page title="Bots" actions={<ButtonLink label="Create a Bot" href="/bots/new" />}>
      <PagedList
        pages={pages}
        label="Bots"
        row={(bot) => <BotRow bot={bot} runs={runs} />}
        empty="No Bots yet"
        hint="A Bot is code of yours that runs when a message arrives."
      />
    </Page>
  );
}

function BotRow({ bot, runs }: { bot: Bot; runs: Failures | undefined }) {
  const { id, name, description } = bot;
  return (
    <Row title={name} href={`/bots/${id}`} more={[description]}>
      {tokensOf(bot).map((token) => (
        <span className="row-more code" key={token}>
          {token}
        </span>
      ))}
      {runs && <LastRun runs={runs} reference={`Bot/${id}`} />}
    </Row>
  );
}

function tokensOf({ identifier = [] }: Bot): string[] {
  return identifier.map(({ system = '', value = '' }) => `${system}|${value}`);
}

function LastRun({ runs, reference }: { runs: Failures; reference: string }) {
  const ran = runs.ran.find(({ bot }) => bot.reference === reference);
  const failing = runs.bots.find(({ bot }) => bot.reference === reference);
  if (!ran) return runs.complete ? <span className="row-more">No run in the last 24 hours</span> : null;
  return (
    <span className="row-more">
      Last run <Moment at={ran.at} />
      {failing && `, ${failing.failed} of the latest ${failing.looked} failed`}
    </span>
  );
}

const emptyBot = {
  name: '',
  description: '',
  system: '',
  identifier: '',
  accessPolicy: undefined as Choice<PickedPolicy>,
};

export function NewBotPage() {
  const { admin, send } = useApi();
  const [, navigate] = useLocation();
  const create = useForm(emptyBot, async ({ name, description, system, identifier: value, accessPolicy }) => {
    const { id } = await send<Bot>('POST', `${admin}/bot`, {
      name,
      description,
      identifier: value ? [{ ...(system ? { system } : {}), value }] : undefined,
      accessPolicy: referenceOf(accessPolicy),
    });
    navigate(`/bots/${id}`);
  });
  return (
    <Page title="Create a Bot">
      <FormCard label="New Bot" action={create} submit="Create">
        <TextField label="Name" {...create.field('name')} isRequired />
        <TextField label="Description" {...create.field('description')} />
        <div className="form-pair">
          <TextField label="Identifier system" {...create.field('system')}>
            For example https://example.org/bots. Optional.
          </TextField>
          <TextField label="Identifier value" {...create.field('identifier')}>
            Senders can name the Bot by it. Unique within a project.
          </TextField>
        </div>
        <PolicyPicker {...create.field('accessPolicy')}>
          Without one it may read and write clinical records and run Bots.
        </PolicyPicker>
      </FormCard>
    </Page>
  );
}

/** One Bot: its code, a console that runs it, its versions, secrets and executions. */
export function BotPage({ id }: { id: string }) {
  const { admin } = useApi();
  const loaded = useGet<Bot>(`fhir/R4/Bot/${encodeURIComponent(id)}`);
  return (
    <Page title={loaded.value?.name ?? 'Bot'} back={{ label: 'All Bots', href: '/bots' }}>
      <Loading of={loaded}>
        {(bot) => (
          <>
            <p className="muted code">{tokensOf(bot).join(', ') || `Bot/${bot.id}`}</p>
            <FiguresLine bot={bot} />
            <Tabs
              label="Bot"
              tabs={{
                Workbench: <Workbench bot={bot} />,
                Triggers: <TriggersTab bot={bot} />,
                Versions: <VersionsTab bot={bot} />,
                Secrets: <SecretsOf path={`${admin}/bot/${bot.id}/secrets`} />,
                Executions: <ExecutionsTab bot={bot} />,
                Settings: <SettingsTab bot={bot} />,
                Delete: (
                  <DeleteResource resource={bot} name={bot.name ?? 'this Bot'} then="/bots">
                    <li>It cannot be executed any more; senders are answered that it is not there.</li>
                    <li>Its membership, its identifiers and its secrets end with it.</li>
                    <li>The records of its executions stay in the audit log.</li>
                  </DeleteResource>
                ),
              }}
            />
          </>
        )}
      </Loading>
    </Page>
  );
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

function FiguresLine({ bot }: { bot: Bot }) {
  const { get } = useApi();
  const [search] = useSearchParams();
  // Looked up again with every tab: it may have run meanwhile.
  const { value } = useLoad(`${bot.id} ${search.get('tab')}`, async (signal) => {
    const { parameter = [] } = await get<Parameters>(`fhir/R4/Bot/${bot.id}/$figures`, signal);
    return partsOf({ part: parameter });
  });
  if (!value) return <p className="muted">Last 24 hours: …</p>;
  const { runs, failed, p50Ms, p95Ms, complete } = value;
  if (runs === 0) return <p className="muted">Last 24 hours: no runs.</p>;
  const which = complete === true ? 'Last 24 hours' : 'Its latest';
  return (
    <p className="muted">
      {which}: {counted(Number(runs), 'run')}, {percent.format(Number(failed) / Number(runs))} failed, p50{' '}
      {String(p50Ms)} ms, p95 {String(p95Ms)} ms
    </p>
  );
}
