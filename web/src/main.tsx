import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/layout.css';
import './styles/lists.css';
import './styles/people.css';
import { RouterProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { Redirect, Route, Router, Switch, useLocation, useSearch } from 'wouter';
import { IdleNotice, ReplacedNotice, SignInAgainDialog } from './session/session-dialogs.tsx';
import { openSessionState, useSessionState } from './session/session-state.ts';
import { Shell } from './shell/shell.tsx';
import { SignedInPages } from './shell/signed-in-pages.tsx';
import { AcceptPage } from './sign-in/accept-page.tsx';
import { ForgotPage, ResetPage, SignedOutPage, UndoPage, VerifyPage } from './sign-in/link-pages.tsx';
import { ExternalPage, SignInPage } from './sign-in/sign-in-page.tsx';

function Pages() {
  const { session, isReplaced } = useSessionState();
  const [path, navigate] = useLocation();
  const search = useSearch();
  const wanted = search ? `${path}?${search}` : path;
  return (
    <RouterProvider navigate={navigate} useHref={(href) => `/app${href}`}>
      <Switch>
        <Route path="/accept" component={AcceptPage} />
        <Route path="/forgot" component={ForgotPage} />
        <Route path="/reset" component={ResetPage} />
        <Route path="/sign-in" component={SignInPage} />
        <Route path="/external" component={ExternalPage} />
        <Route path="/undo" component={UndoPage} />
        <Route path="/verify" component={VerifyPage} />
        <Route path="/signed-out" component={SignedOutPage} />
        <Route>
          {session ? (
            // Nothing that one Project has shown stays when the person goes to another.
            <Shell key={session.id}>
              <SignedInPages />
              <IdleNotice />
              <ReplacedNotice isOpen={isReplaced} />
            </Shell>
          ) : (
            <Redirect
              to={path === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(wanted)}`}
              replace
            />
          )}
        </Route>
      </Switch>
      {session && <SignInAgainDialog session={session} />}
    </RouterProvider>
  );
}

const root = document.getElementById('root');
if (root) {
  await openSessionState();
  createRoot(root).render(
    <Router base="/app">
      <Pages />
    </Router>,
  );
}
