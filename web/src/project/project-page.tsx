import { useApi } from '../api/use-api.ts';
import { SecretsOf } from '../bots/secrets-tab.tsx';
import { Page } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { ExportTab } from './export-tab.tsx';
import { FetchHostsTab } from './fetch-hosts-tab.tsx';
import { GeneralTab } from './general-tab.tsx';
import { IssuersTab } from './issuers-tab.tsx';
import { LimitsTab } from './limits-tab.tsx';

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
