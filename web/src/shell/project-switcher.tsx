import { useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useLocation } from 'wouter';
import { exchangeCode, newPkce, type SignInStep, signInStep } from '../../../client/src/index.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { baseUrl } from '../session/session.ts';
import { useSessionState } from '../session/session-context.tsx';
import { NextStep } from '../sign-in/next-step.tsx';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notice.tsx';

interface Switching {
  step: SignInStep;
  codeVerifier: string;
}

/** Changes to another Project of the person without a new sign-in. The session of this browser goes there. */
export function ProjectSwitcher() {
  const { send } = useApi();
  const { begin } = useSessionState();
  const [, navigate] = useLocation();
  const [switching, setSwitching] = useState<Switching>();
  const ask = useAction(async () => {
    const { codeVerifier, codeChallenge, codeChallengeMethod } = await newPkce();
    const answer = await send('POST', 'auth/switch', { codeChallenge, codeChallengeMethod });
    setSwitching({ step: signInStep(baseUrl, answer), codeVerifier });
  });
  const proceed = async (step: SignInStep) => {
    if (!switching) return;
    const { codeVerifier } = switching;
    if (step.kind !== 'code') return setSwitching({ step, codeVerifier });
    const tokens = await exchangeCode({ baseUrl, code: step.code, codeVerifier });
    await begin(tokens);
    navigate('/', { replace: true });
  };
  const step = switching?.step;
  const isAlone = step?.kind === 'choose' && step.memberships.length === 0;
  return (
    <>
      <Button kind="quiet" className="shell-out" isPending={ask.isBusy} onPress={() => ask.run()}>
        Change project
      </Button>
      <Failure message={ask.message} />
      <ModalOverlay
        className="overlay"
        isOpen={switching !== undefined}
        onOpenChange={(isOpen) => isOpen || setSwitching(undefined)}
      >
        <Modal className="modal">
          <Dialog className="dialog">
            <Heading slot="title">Change project</Heading>
            {isAlone && <p>You belong to no other project.</p>}
            {step && !isAlone && <NextStep step={step} onStep={proceed} />}
            <div className="buttons buttons-end">
              <Button onPress={() => setSwitching(undefined)}>Stay here</Button>
            </div>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  );
}
