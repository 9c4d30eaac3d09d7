import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { SignInStep } from '../../../client/src/index.ts';
import { messageOf } from '../api/use-api.ts';
import { useSessionState } from '../session/session-context.tsx';
import { tellSignedInAgain } from '../session/sign-in-again.ts';
import { Failure, Link } from '../ui/basics.tsx';
import { Door } from '../ui/page.tsx';
import { ChooseMembership, ChoosePatient } from './next-step.tsx';
import { type ExternalAnswer, externalAnswer } from './sign-in-target.ts';

/** Where people come back to from the sign-in of their organisation. */
export function ExternalPage() {
  const [, navigate] = useLocation();
  const { begin } = useSessionState();
  const [step, setStep] = useState<SignInStep>();
  const [failure, setFailure] = useState<string>();
  const answer = useRef<ExternalAnswer>(undefined);

  const proceed = async (next: SignInStep) => {
    if (next.kind !== 'code') return setStep(next);
    try {
      const tokens = await answer.current?.finish(next.code);
      if (!tokens) return;
      await begin(tokens);
      navigate('/', { replace: true });
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answer in the address is used once
  useEffect(() => {
    if (answer.current || failure || tellSignedInAgain(new URLSearchParams(location.search))) return;
    try {
      answer.current = externalAnswer();
      void proceed(answer.current.step);
    } catch (error) {
      setFailure(messageOf(error));
    }
  }, []);

  return (
    <Door title={failure ? 'You are not signed in' : step ? 'Where do you want to go?' : 'Signing you in'}>
      <Failure message={failure} />
      {step?.kind === 'choose' && !failure && <ChooseMembership step={step} onStep={proceed} />}
      {step?.kind === 'choose-patient' && !failure && <ChoosePatient step={step} onStep={proceed} />}
      {!step && !failure && <p role="status">One moment…</p>}
      {failure && (
        <p>
          <Link href="/sign-in">Go to the sign-in page</Link>
        </p>
      )}
    </Door>
  );
}
