import { useEffect, useState } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import type { SignInStep } from '../../../client/src/index.ts';
import { messageOf } from '../api/message-of.ts';
import { useSessionState } from '../session/session-context.tsx';
import { Link } from '../ui/link.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { AppWelcome } from './app-welcome.tsx';
import { CredentialsForm } from './credentials-form.tsx';
import { Door } from './door.tsx';
import { IssuerButton } from './issuer-button.tsx';
import { NextStep, stepTitles } from './next-step.tsx';
import { type SignInTarget, signInTarget } from './sign-in-target.ts';

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
