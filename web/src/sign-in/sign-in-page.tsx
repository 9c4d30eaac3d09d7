import { useEffect, useState } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { type SignInStep, signIn } from '../../../client/src/index.ts';
import { messageOf, useAction } from '../api/use-api.ts';
import { baseUrl } from '../session/session.ts';
import { useSessionState } from '../session/session-context.tsx';
import { Button, Failure, Link, Notice } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { Door } from '../ui/page.tsx';
import { NextStep, stepTitles } from './next-step.tsx';
import { leaveForIssuer, type SignInTarget, signInTarget } from './sign-in-target.ts';

/** Signs a person in, step by step, to this app or to the client that sent them. */
export function SignInPage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const { session, notice, begin } = useSessionState();
  const [target, setTarget] = useState<SignInTarget>();
  const [step, setStep] = useState<SignInStep>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    signInTarget(new URLSearchParams(search)).then(setTarget, (error: unknown) =>
      setFailure(messageOf(error)),
    );
  }, [search]);

  const query = new URLSearchParams(search);
  const clientId = query.get('client_id');

  const proceed = async (next: SignInStep) => {
    if (next.kind !== 'code') return setStep(next);
    try {
      const tokens = await target?.finish(next.code);
      if (!tokens) return;
      await begin(tokens);
      navigate(nextPage(search), { replace: true });
    } catch (error) {
      setStep(undefined);
      setFailure(messageOf(error));
    }
  };

  // Another tab has signed in: this browser has one session.
  if (session && !clientId && !query.has('issuer')) return <Redirect to={nextPage(search)} replace />;
  return (
    <Door title={stepTitles[step?.kind ?? 'code']}>
      {step === undefined && clientId && <AppWelcome clientId={clientId} />}
      {step ? null : notice && <Notice kind="plain">{notice}</Notice>}
      <Failure message={failure} />
      {step === undefined && <CredentialsForm target={target} onStep={proceed} />}
      {step === undefined && <IssuerButton query={query} />}
      {step === undefined && (
        <p>
          <Link href="/forgot">Forgot your password?</Link>
        </p>
      )}
      {step && <NextStep step={step} onStep={proceed} />}
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
  onStep(step: SignInStep): Promise<void>;
}

function CredentialsForm({ target, onStep }: Props) {
  const form = useForm({ email: '', password: '' }, async (credentials) => {
    if (target) await onStep(await signIn({ ...target.request, ...credentials }));
  });
  return (
    <Form label="Sign in" fieldErrors={form.fieldErrors} onSubmit={() => form.run()}>
      <Failure message={form.message} />
      <TextField label="E-mail" type="email" autoComplete="username" {...form.field('email')} isRequired />
      <PasswordField
        label="Password"
        autoComplete="current-password"
        {...form.field('password')}
        isRequired
      />
      <Button type="submit" kind="primary" isPending={form.isBusy}>
        Sign in
      </Button>
    </Form>
  );
}

/** What the app that sent the person says to greet them, as its text only; nothing while that is not known. */
function AppWelcome({ clientId }: { clientId: string }) {
  const [text, setText] = useState<string>();
  useEffect(() => {
    const gone = new AbortController();
    fetch(`${baseUrl}/auth/clientinfo/${encodeURIComponent(clientId)}`, { signal: gone.signal })
      .then((answer) => (answer.ok ? answer.json() : {}))
      .then(({ welcomeString }: { welcomeString?: unknown }) => {
        if (typeof welcomeString === 'string') setText(welcomeString);
      })
      // People sign in without it as well.
      .catch(() => undefined);
    return () => gone.abort();
  }, [clientId]);
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
      <Button isPending={leave.isBusy} onPress={() => leave.run()}>
        Continue with {host}
      </Button>
    </>
  );
}
