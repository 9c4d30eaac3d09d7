import type { Bot } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { ExecutionsTab } from '../executions/executions-tab.tsx';
import { FiguresLine } from '../executions/figures-line.tsx';
import { TriggersTab } from '../triggers/triggers-tab.tsx';
import { DeleteResource } from '../ui/delete-resource.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Workbench } from '../workbench/workbench.tsx';
import { SecretsTab } from './secrets-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { VersionsTab } from './versions-tab.tsx';

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
