import { Route, Switch } from 'wouter';
import { AuditPage } from '../audit/audit-page.tsx';
import { BotPage } from '../bots/bot-page.tsx';
import { BotsPage } from '../bots/bots-page.tsx';
import { NewBotPage } from '../bots/new-bot-page.tsx';
import { BulkPage } from '../bulk/bulk-page.tsx';
import { ClientPage } from '../clients/client-page.tsx';
import { ClientsPage } from '../clients/clients-page.tsx';
import { ViewPage } from '../eyes/view-page.tsx';
import { InvitePage } from '../invite/invite-page.tsx';
import { MemberPage } from '../members/member-page.tsx';
import { MembersPage } from '../members/members-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { NewPolicyPage } from '../policies/new-policy-page.tsx';
import { PoliciesPage } from '../policies/policies-page.tsx';
import { PolicyPage } from '../policies/policy-page.tsx';
import { ProjectPage } from '../project/project-page.tsx';
import { NothingHere } from './nothing-here.tsx';

/** Pages that the service refuses to everybody else: they are not even drawn. */
export function AdministratorPages({ isAdministrator }: { isAdministrator: boolean }) {
  if (!isAdministrator) return <NothingHere />;
  return (
    <Switch>
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
      <Route component={NothingHere} />
    </Switch>
  );
}
