import { useState } from 'react';
import type { SignInStep } from '../../../client/src/index.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { TokenField } from './token-field.tsx';

interface Props {
  step: Extract<SignInStep, { kind: 'second-factor' }>;
  onStep(step: SignInStep): Promise<void>;
}

export function SecondFactorForm({ step, onStep }: Props) {
  const [token, setToken] = useState('');
  const { run, isBusy, message, fieldErrors } = useAction(
    async () => onStep(await step.verify(token)),
    ['token'],
  );
  return (
    <Form label="Second factor" fieldErrors={fieldErrors} onSubmit={run}>
      <p className="muted">
        Open your authenticator app and type the code that it shows for this service, or one of your recovery
        codes.
      </p>
      <Failure message={message} />
      <TokenField value={token} onChange={setToken} autoFocus orRecovery />
      <Button type="submit" kind="primary" isPending={isBusy}>
        Continue
      </Button>
    </Form>
  );
}
