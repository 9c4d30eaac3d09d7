import { Redirect, Route, Switch } from 'wouter';
import { AccountPage } from '../account/account-page.tsx';
import { MailPage } from '../mail/mail-page.tsx';
import { RecordPage } from '../records/record-page.tsx';
import { RecordsPage } from '../records/records-page.tsx';
import { ReferencePage } from '../reference/reference-page.tsx';
import { useSession } from '../session/session-context.tsx';
import { AdministratorPages } from './administrator-pages.tsx';

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
      <Route>
        <AdministratorPages isAdministrator={isAdministrator} />
      </Route>
    </Switch>
  );
}
