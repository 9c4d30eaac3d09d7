import { useEffect, useRef, useState } from 'react';
import type { EnrolledStep, SignInStep } from '../../../client/src/index.ts';
import { useAction } from '../api/use-api.ts';
import { Button, CopyButton, Failure } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';

interface SecondFactorFormProps {
  step: Extract<SignInStep, { kind: 'second-factor' }>;
  onStep(step: SignInStep): Promise<void>;
}

export function SecondFactorForm({ step, onStep }: SecondFactorFormProps) {
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

interface EnrollFormProps {
  step: Extract<SignInStep, { kind: 'enroll-second-factor' }>;
  onStep(step: SignInStep): Promise<void>;
}

/** The Project wants a second factor and this person has none yet; then they are shown its recovery codes. */
export function EnrollForm({ step, onStep }: EnrollFormProps) {
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

function Enrolled({ next, onStep }: { next: EnrolledStep; onStep: EnrollFormProps['onStep'] }) {
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

interface TokenFieldProps {
  value: string;
  onChange(value: string): void;
  /** On a page that asks for nothing else. */
  autoFocus?: boolean;
  /** Where a recovery code is as good. */
  orRecovery?: boolean;
}

/** Six digits of an authenticator app (RFC 6238). */
export function TokenField({ value, onChange, autoFocus = false, orRecovery = false }: TokenFieldProps) {
  return (
    <TextField
      label={orRecovery ? 'Six-digit code, or a recovery code' : 'Six-digit code'}
      name="token"
      inputMode={orRecovery ? 'text' : 'numeric'}
      autoComplete="one-time-code"
      {...(orRecovery ? { maxLength: 40 } : { pattern: '[0-9]{6}', maxLength: 6 })}
      value={value}
      onChange={onChange}
      isRequired
      autoFocus={autoFocus}
    />
  );
}

/** The secret of a new second factor, as a picture and as text. */
export function SecretToScan({ uri, qrCode }: { uri: string; qrCode: string }) {
  const secret = /[?&]secret=([^&]+)/.exec(uri)?.[1];
  return (
    <>
      <img className="qr" src={qrCode} alt="QR code of the new second factor" width="220" height="220" />
      {secret && (
        <p className="help">
          Or type this secret into the app: <code>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        </p>
      )}
    </>
  );
}

interface RecoveryCodesProps {
  codes: readonly string[];
  /** By what they stand under. */
  heading: 'h2' | 'h3';
}

/** New recovery codes, this once: only their hashes are stored. */
export function RecoveryCodes({ codes, heading: Heading }: RecoveryCodesProps) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <section className="notice-good" aria-labelledby="recovery-codes">
      <Heading id="recovery-codes" ref={title} tabIndex={-1}>
        Your recovery codes
      </Heading>
      <p>
        This is the only time that they are shown. Keep them where your phone is not: each opens your sign-in
        once in its place.
      </p>
      <code className="secret">{codes.join(' ')}</code>
      <CopyButton text={codes.join('\n')} label="Copy the codes" />
    </section>
  );
}
