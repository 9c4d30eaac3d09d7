import { Redirect, useSearch } from 'wouter';
import { signIn } from '../../../client/src/index.ts';
import { useAction, useLoad } from '../api/use-api.ts';
import { baseUrl } from '../session/session.ts';
import { useSessionState } from '../session/session-state.ts';
import { tellSignedInAgain } from '../session/sign-in-again.ts';
import { ActionButton, Failure, Notice } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { Door } from './door.tsx';
import { type Proceed, stepTitles, useSignInSteps } from './next-step.tsx';
import { externalAnswer, leaveForIssuer, signInTarget } from './sign-in-target.ts';

/** Signs a person in, step by step, to this app or to the client that sent them. */
export function SignInPage() {
  const search = useSearch();
  const { session, notice } = useSessionState();
  const { step, next, failure, proceed } = useSignInSteps(nextPage(search));
  const query = new URLSearchParams(search);
  const clientId = query.get('client_id');
  // Another tab has signed in: this browser has one session.
  if (session && !clientId && !query.has('issuer')) return <Redirect to={nextPage(search)} replace />;
  // What has failed begins anew.
  if (step && !failure) return <Door title={stepTitles[step.kind]}>{next}</Door>;
  return (
    <Door title={stepTitles.code} link={{ label: 'Forgot your password?', href: '/forgot' }}>
      {clientId && <AppWelcome clientId={clientId} />}
      {notice && <Notice kind="plain">{notice}</Notice>}
      <Failure message={failure} />
      <CredentialsForm query={query} proceed={proceed} />
      <IssuerButton query={query} />
    </Door>
  );
}

/** Where the person wanted to go: a page of this app, never an address of somebody else. */
function nextPage(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/';
  return /^\/(?!\/)[\w/-]*(\?[\w=&%.+-]*)?$/.test(next) ? next : '/';
}

function CredentialsForm({ query, proceed }: { query: URLSearchParams; proceed: Proceed }) {
  const form = useForm({ email: '', password: '' }, async (credentials) => {
    const { request, finish } = await signInTarget(query);
    await proceed(await signIn({ ...request, ...credentials }), finish);
  });
  return (
    <Form label="Sign in" action={form} submit="Sign in">
      <TextField label="E-mail" type="email" autoComplete="username" {...form.field('email')} isRequired />
      <PasswordField label="Password" {...form.field('password')} isRequired />
    </Form>
  );
}

/** What the app that sent the person says to greet them, as its text only; nothing while that is not known. */
function AppWelcome({ clientId }: { clientId: string }) {
  // People sign in without it as well.
  const { value: text } = useLoad(clientId, async (signal) => {
    const answer = await fetch(`${baseUrl}/auth/clientinfo/${encodeURIComponent(clientId)}`, { signal });
    const { welcomeString } = await answer.json();
    return answer.ok && typeof welcomeString === 'string' ? welcomeString : undefined;
  });
  return text === undefined ? null : <p className="muted">{text}</p>;
}

/** Signing in at the organisation that the address names: `?issuer=…&project_id=…`. */
function IssuerButton({ query }: { query: URLSearchParams }) {
  const [issuer, projectId] = [query.get('issuer') ?? '', query.get('project_id') ?? ''];
  const leave = useAction(() => leaveForIssuer(issuer, projectId));
  const host = URL.parse(issuer)?.host;
  if (!host || !projectId) return null;
  return (
    <>
      <Failure message={leave.message} />
      <ActionButton label={`Continue with ${host}`} action={leave} />
    </>
  );
}

/** Where people come back to from the sign-in of their organisation. */
export function ExternalPage() {
  const { step, next, failure, proceed } = useSignInSteps();
  // The answer in the address is used once.
  const { message = failure } = useLoad('', async () => {
    if (tellSignedInAgain(new URLSearchParams(location.search))) return;
    const { step: first, finish } = externalAnswer();
    await proceed(first, finish);
  });
  if (message)
    return (
      <Door title="You are not signed in" link={{ label: 'Go to the sign-in page', href: '/sign-in' }}>
        <Failure message={message} />
      </Door>
    );
  return (
    <Door title={step ? 'Where do you want to go?' : 'Signing you in'}>
      {next ?? <p role="status">One moment…</p>}
    </Door>
  );
}
