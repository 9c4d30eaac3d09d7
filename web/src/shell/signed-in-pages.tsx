import { Redirect, Route, Switch } from 'wouter';
import { InvitePage } from '../invite/invite-page.tsx';
import { MailPage } from '../mail/mail-page.tsx';
import { MemberPage } from '../members/member-page.tsx';
import { MembersPage } from '../members/members-page.tsx';
import { RecordsPage } from '../records/records-page.tsx';
import { useSession } from '../session/session-context.tsx';
import { NothingHere } from './nothing-here.tsx';

export function SignedInPages() {
  const { me } = useSession();
  const isAdministrator = me.membership.admin === true;
  return (
    <Switch>
      <Route path="/">
        <Redirect to={isAdministrator ? '/members' : '/records'} replace />
      </Route>
      <Route path="/records" component={RecordsPage} />
      <Route path="/mail" component={MailPage} />
      {isAdministrator && <Route path="/members" component={MembersPage} />}
      {isAdministrator && (
        <Route path="/members/:id">{({ id }: { id: string }) => <MemberPage id={id} key={id} />}</Route>
      )}
      {isAdministrator && <Route path="/invite" component={InvitePage} />}
      <Route component={NothingHere} />
    </Switch>
  );
}
