import { useState } from 'react';
import type { SignInStep } from '../../../client/src/index.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { TokenField } from './token-field.tsx';

interface Props {
  step: Extract<SignInStep, { kind: 'enroll-second-factor' }>;
  onStep(step: SignInStep): Promise<void>;
}

/** The Project wants a second factor and this person has none yet. */
export function EnrollForm({ step, onStep }: Props) {
  const [token, setToken] = useState('');
  const { run, isBusy, message, fieldErrors } = useAction(
    async () => onStep(await step.enroll(token)),
    ['token'],
  );
  const secret = /[?&]secret=([^&]+)/.exec(step.uri)?.[1];
  return (
    <Form label="Add a second factor" fieldErrors={fieldErrors} onSubmit={run}>
      <p className="muted">
        This project wants a code from an authenticator app beside your password. Scan this with the app:
      </p>
      <img className="qr" src={step.qrCode} alt="QR code of the new second factor" width="220" height="220" />
      {secret && (
        <p className="help">
          Or type this secret into the app: <code>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        </p>
      )}
      <Failure message={message} />
      <TokenField value={token} onChange={setToken} />
      <Button type="submit" kind="primary" isPending={isBusy}>
        Add and continue
      </Button>
    </Form>
  );
}
