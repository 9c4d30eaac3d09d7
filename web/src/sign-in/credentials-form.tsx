import { useState } from 'react';
import { type SignInStep, signIn } from '../../../client/src/index.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { PasswordField } from '../ui/password-field.tsx';
import { TextField } from '../ui/text-field.tsx';
import type { SignInTarget } from './sign-in-target.ts';

interface Props {
  target: SignInTarget | undefined;
  onStep(step: SignInStep): Promise<void>;
}

export function CredentialsForm({ target, onStep }: Props) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { run, isBusy, message, fieldErrors } = useAction(async () => {
    if (target) await onStep(await signIn({ ...target.request, email, password }));
  }, ['email', 'password']);
  return (
    <Form label="Sign in" fieldErrors={fieldErrors} onSubmit={run}>
      <Failure message={message} />
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        isRequired
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        isRequired
      />
      <Button type="submit" kind="primary" isPending={isBusy}>
        Sign in
      </Button>
    </Form>
  );
}
