import { Redirect, Route, Switch } from 'wouter';
import { AccountPage } from '../account/account-page.tsx';
import { AuditPage } from '../audit/audit-page.tsx';
import { BotPage, BotsPage, NewBotPage } from '../bots/bots-page.tsx';
import { BulkPage } from '../bulk/bulk-page.tsx';
import { ClientPage } from '../clients/client-page.tsx';
import { ClientsPage } from '../clients/clients-page.tsx';
import { ViewPage } from '../eyes/view-page.tsx';
import { InvitePage } from '../invite/invite-page.tsx';
import { MailPage } from '../mail/mail-page.tsx';
import { MemberPage } from '../members/member-page.tsx';
import { MembersPage } from '../members/members-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { NewPolicyPage, PoliciesPage, PolicyPage } from '../policies/policies-page.tsx';
import { ProjectPage } from '../project/project-page.tsx';
import { RecordPage } from '../records/record-page.tsx';
import { RecordsPage } from '../records/records-page.tsx';
import { ReferencePage } from '../reference/reference-page.tsx';
import { useSession } from '../session/session-state.ts';
import { Page } from '../ui/page.tsx';

export function SignedInPages() {
  const { me } = useSession();
  const isAdministrator = me.membership.admin === true;
  return (
    <Switch>
      <Route path="/">
        <Redirect to={isAdministrator ? '/overview' : '/records'} replace />
      </Route>
      <Route path="/records" component={RecordsPage} />
      <Route path="/records/:type/:id">
        {({ type, id }) => <RecordPage type={type} id={id} key={`${type}/${id}`} />}
      </Route>
      <Route path="/account" component={AccountPage} />
      <Route path="/mail" component={MailPage} />
      <Route path="/reference" component={ReferencePage} />
      {/* The service refuses these to everybody else: they are not even drawn. */}
      {isAdministrator && (
        <>
          <Route path="/overview" component={OverviewPage} />
          <Route path="/members" component={MembersPage} />
          <Route path="/members/:id">{({ id }) => <MemberPage id={id} key={id} />}</Route>
          <Route path="/members/:id/view">{({ id }) => <ViewPage id={id} key={id} />}</Route>
          <Route path="/invite" component={InvitePage} />
          <Route path="/invite/many" component={BulkPage} />
          <Route path="/policies" component={PoliciesPage} />
          <Route path="/policies/new" component={NewPolicyPage} />
          <Route path="/policies/:id">{({ id }) => <PolicyPage id={id} key={id} />}</Route>
          <Route path="/bots" component={BotsPage} />
          <Route path="/bots/new" component={NewBotPage} />
          <Route path="/bots/:id">{({ id }) => <BotPage id={id} key={id} />}</Route>
          <Route path="/clients" component={ClientsPage} />
          <Route path="/clients/:id">{({ id }) => <ClientPage id={id} key={id} />}</Route>
          <Route path="/project" component={ProjectPage} />
          <Route path="/audit" component={AuditPage} />
        </>
      )}
      <Route component={NothingHere} />
    </Switch>
  );
}

function NothingHere() {
  return (
    <Page title="Nothing here" back={{ label: 'Go to the records', href: '/records' }}>
      <p>There is no such page, or it is for administrators only.</p>
    </Page>
  );
}
