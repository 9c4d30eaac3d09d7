import { useState } from 'react';
import type { EnrolledStep, SignInStep } from '../../../client/src/index.ts';
import { RecoveryCodes } from '../account/recovery-codes.tsx';
import { useAction } from '../api/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { SecretToScan } from './secret-to-scan.tsx';
import { TokenField } from './token-field.tsx';

interface Props {
  step: Extract<SignInStep, { kind: 'enroll-second-factor' }>;
  onStep(step: SignInStep): Promise<void>;
}

/** The Project wants a second factor and this person has none yet; then they are shown its recovery codes. */
export function EnrollForm({ step, onStep }: Props) {
  const [token, setToken] = useState('');
  const [next, setNext] = useState<EnrolledStep>();
  const { run, isBusy, message, fieldErrors } = useAction(
    async () => setNext(await step.enroll(token)),
    ['token'],
  );
  if (next) return <Enrolled next={next} onStep={onStep} />;
  return (
    <Form label="Add a second factor" fieldErrors={fieldErrors} onSubmit={run}>
      <p className="muted">
        This project requires a code from an authenticator app beside your password. Scan this with the app:
      </p>
      <SecretToScan uri={step.uri} qrCode={step.qrCode} />
      <Failure message={message} />
      <TokenField value={token} onChange={setToken} autoFocus />
      <Button type="submit" kind="primary" isPending={isBusy}>
        Add and continue
      </Button>
    </Form>
  );
}

function Enrolled({ next, onStep }: { next: EnrolledStep; onStep: Props['onStep'] }) {
  const { run, isBusy, message } = useAction(async () => onStep(next));
  return (
    <Form label="Your recovery codes" onSubmit={run}>
      <RecoveryCodes codes={next.recoveryCodes} heading="h2" />
      <Failure message={message} />
      <Button type="submit" kind="primary" isPending={isBusy}>
        I have kept them: continue
      </Button>
    </Form>
  );
}
