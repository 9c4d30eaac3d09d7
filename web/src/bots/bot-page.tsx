import type { Bot, Parameters } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';
import { partsOf } from '../api/fhir.ts';
import { useApi, useLoad } from '../api/use-api.ts';
import { ExecutionsTab } from '../executions/executions-tab.tsx';
import { TriggersTab } from '../triggers/triggers-tab.tsx';
import { Link, Loading } from '../ui/basics.tsx';
import { DeleteResource } from '../ui/confirm.tsx';
import { Page, Tabs } from '../ui/page.tsx';
import { SecretsTab } from './secrets-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { VersionsTab } from './versions-tab.tsx';
import { Workbench } from './workbench.tsx';

/** One Bot: its code, a console that runs it, its versions, secrets and executions. */
export function BotPage({ id }: { id: string }) {
  const api = useApi();
  const load = useCallback(
    (signal: AbortSignal) => api.get<Bot>(`fhir/R4/Bot/${encodeURIComponent(id)}`, signal),
    [api, id],
  );
  const loaded = useLoad(load);
  return (
    <Page title={loaded.value?.name ?? 'Bot'}>
      <Loading of={loaded}>
        {(bot) => (
          <>
            <p className="muted code">
              {(bot.identifier ?? []).map(({ system = '', value }) => `${system}|${value}`).join(', ') ||
                `Bot/${bot.id}`}
            </p>
            <FiguresLine bot={bot} />
            <Tabs
              label="Bot"
              tabs={[
                ['Workbench', <Workbench key="workbench" bot={bot} />],
                ['Triggers', <TriggersTab key="triggers" bot={bot} />],
                ['Versions', <VersionsTab key="versions" bot={bot} />],
                ['Secrets', <SecretsTab key="secrets" bot={bot} />],
                ['Executions', <ExecutionsTab key="executions" bot={bot} />],
                ['Settings', <SettingsTab key="settings" bot={bot} onChange={loaded.reload} />],
                [
                  'Delete',
                  <DeleteResource key="delete" resource={bot} name={bot.name ?? 'this Bot'} then="/bots">
                    <li>It cannot be executed any more; senders are answered that it is not there.</li>
                    <li>Its membership, its identifiers and its secrets end with it.</li>
                    <li>The records of its executions stay in the audit log.</li>
                  </DeleteResource>,
                ],
              ]}
            />
          </>
        )}
      </Loading>
      <p>
        <Link href="/bots">All Bots</Link>
      </p>
    </Page>
  );
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const count = new Intl.NumberFormat();

/** How a Bot has done in the last 24 hours, in a line. */
function FiguresLine({ bot }: { bot: Bot }) {
  const api = useApi();
  const [search] = useSearchParams();
  const tab = search.get('tab');
  const load = useCallback(
    async (signal: AbortSignal) => {
      // Looked up again with every tab: it may have run meanwhile.
      void tab;
      const { parameter = [] } = await api.get<Parameters>(`fhir/R4/Bot/${bot.id}/$figures`, signal);
      return partsOf({ name: '', part: parameter });
    },
    [api, bot.id, tab],
  );
  const { value } = useLoad(load);
  if (!value) return <p className="muted">Last 24 hours: …</p>;
  const { runs, failed, p50Ms, p95Ms, complete } = value;
  if (runs === 0) return <p className="muted">Last 24 hours: no runs.</p>;
  const which = complete === true ? 'Last 24 hours' : 'Its latest';
  return (
    <p className="muted">
      {which}: {count.format(Number(runs))} {runs === 1 ? 'run' : 'runs'},{' '}
      {percent.format(Number(failed) / Number(runs))} failed, p50 {String(p50Ms)} ms, p95 {String(p95Ms)} ms
    </p>
  );
}
