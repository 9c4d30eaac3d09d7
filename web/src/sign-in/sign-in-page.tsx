import { useEffect, useRef, useState } from 'react';
import { Redirect, useSearch } from 'wouter';
import { type SignInStep, signIn } from '../../../client/src/index.ts';
import { messageOf, useAction, useLoad } from '../api/use-api.ts';
import { baseUrl } from '../session/session.ts';
import { useSessionState } from '../session/session-context.tsx';
import { tellSignedInAgain } from '../session/sign-in-again.ts';
import { ActionButton, Failure, Link, Notice } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { Door } from '../ui/page.tsx';
import { stepTitles, useSignInSteps } from './next-step.tsx';
import { externalAnswer, leaveForIssuer, type SignInTarget, signInTarget } from './sign-in-target.ts';

/** Signs a person in, step by step, to this app or to the client that sent them. */
export function SignInPage() {
  const search = useSearch();
  const { session, notice } = useSessionState();
  const [target, setTarget] = useState<SignInTarget>();
  const { failure, setFailure, proceed, ...steps } = useSignInSteps(nextPage(search));
  useEffect(() => {
    signInTarget(new URLSearchParams(search)).then(setTarget, (error: unknown) =>
      setFailure(messageOf(error)),
    );
  }, [search, setFailure]);
  const query = new URLSearchParams(search);
  const clientId = query.get('client_id');
  // Another tab has signed in: this browser has one session.
  if (session && !clientId && !query.has('issuer')) return <Redirect to={nextPage(search)} replace />;
  // What has failed begins anew.
  if (steps.step && !failure) return <Door title={stepTitles[steps.step.kind]}>{steps.next}</Door>;
  return (
    <Door title={stepTitles.code}>
      {clientId && <AppWelcome clientId={clientId} />}
      {notice && <Notice kind="plain">{notice}</Notice>}
      <Failure message={failure} />
      <CredentialsForm target={target} onStep={async (step) => target && proceed(step, target.finish)} />
      <IssuerButton query={query} />
      <p>
        <Link href="/forgot">Forgot your password?</Link>
      </p>
    </Door>
  );
}

/** Where the person wanted to go: a page of this app, never an address of somebody else. */
function nextPage(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/';
  return /^\/(?!\/)[\w/-]*(\?[\w=&%.+-]*)?$/.test(next) ? next : '/';
}

interface Props {
  target: SignInTarget | undefined;
  onStep(step: SignInStep): Promise<unknown>;
}

function CredentialsForm({ target, onStep }: Props) {
  const form = useForm({ email: '', password: '' }, async (credentials) => {
    if (target) await onStep(await signIn({ ...target.request, ...credentials }));
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
  const { step, next, failure, setFailure, proceed } = useSignInSteps();
  const isRead = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answer in the address is used once
  useEffect(() => {
    if (isRead.current || tellSignedInAgain(new URLSearchParams(location.search))) return;
    isRead.current = true;
    try {
      const { step: first, finish } = externalAnswer();
      void proceed(first, finish);
    } catch (error) {
      setFailure(messageOf(error));
    }
  }, []);
  if (failure)
    return (
      <Door title="You are not signed in">
        <Failure message={failure} />
        <p>
          <Link href="/sign-in">Go to the sign-in page</Link>
        </p>
      </Door>
    );
  return (
    <Door title={step ? 'Where do you want to go?' : 'Signing you in'}>
      {next ?? <p role="status">One moment…</p>}
    </Door>
  );
}
