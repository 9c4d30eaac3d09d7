import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { EnrolledStep, SignInStep, Tokens } from '../../../client/src/index.ts';
import { useAction } from '../api/use-api.ts';
import { profileType } from '../members/invitation.ts';
import { startSession } from '../session/session-state.ts';
import { Button, CopyButton, Failure } from '../ui/basics.tsx';
import { TextField, type TextFieldProps } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';

export const stepTitles: Record<SignInStep['kind'], string> = {
  code: 'Sign in',
  choose: 'Where do you want to go?',
  'choose-patient': 'Whose record is it for?',
  'second-factor': 'Your second factor',
  'enroll-second-factor': 'Add a second factor',
};

/** What a code is good for: tokens for this app, or undefined when it has led the person elsewhere. */
type Finish = (code: string) => Promise<Tokens | undefined>;

export type Proceed = ReturnType<typeof useSignInSteps>['proceed'];

/** Leads a person through what the service asks for, until they are signed in. @param page where they go then */
export function useSignInSteps(page = '/') {
  const [, navigate] = useLocation();
  const [at, setAt] = useState<{ step: SignInStep; finish: Finish }>();
  const { run, message: failure } = useAction(
    async ({ step, finish }: { step: SignInStep; finish: Finish }) => {
      if (step.kind !== 'code') return setAt({ step, finish });
      const tokens = await finish(step.code);
      if (!tokens) return;
      await startSession(tokens);
      navigate(page, { replace: true });
    },
  );
  const proceed = (step: SignInStep, finish: Finish) => run({ step, finish });
  return {
    step: at?.step,
    next: at && <NextStep step={at.step} onStep={(step) => proceed(step, at.finish)} />,
    failure,
    proceed,
    leave: () => setAt(undefined),
  };
}

function NextStep({ step, onStep }: { step: SignInStep; onStep(step: SignInStep): Promise<void> }) {
  switch (step.kind) {
    case 'choose':
      return (
        <Choices
          help="Choosing a project that you are invited to accepts the invitation."
          options={step.memberships.map(({ id, project, profile }) => ({
            value: id,
            title: project.display ?? project.reference,
            more: [profile.display, profileType(profile.reference)].filter(Boolean).join(', '),
          }))}
          onChoose={async (id) => onStep(await step.choose(id))}
        />
      );
    case 'choose-patient':
      return (
        <Choices
          help="The app sees the record of the one you choose, and no other."
          options={step.patients.map(({ reference, display }) => ({
            value: reference,
            title: display ?? reference,
          }))}
          onChoose={async (reference) => onStep(await step.choose(reference))}
        />
      );
    case 'second-factor':
      return <SecondFactorForm step={step} onStep={onStep} />;
    case 'enroll-second-factor':
      return <EnrollForm step={step} onStep={onStep} />;
    case 'code':
      return null;
  }
}

interface ChoicesProps {
  help: string;
  options: readonly { value: string; title: string; more?: string }[];
  onChoose(value: string): Promise<void>;
}

function Choices({ help, options, onChoose }: ChoicesProps) {
  const { run, isBusy, message } = useAction(onChoose);
  return (
    <>
      <p className="muted">{help}</p>
      <Failure message={message} />
      <ul className="choices">
        {options.map(({ value, title, more }) => (
          <li key={value}>
            <Button className="choice" isDisabled={isBusy} onPress={() => run(value)}>
              <span className="row-main">
                <span className="row-title">{title}</span>
                {more !== undefined && <span className="row-more">{more}</span>}
              </span>
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

interface StepProps<Kind extends SignInStep['kind']> {
  step: Extract<SignInStep, { kind: Kind }>;
  onStep(step: SignInStep): Promise<void>;
}

function SecondFactorForm({ step, onStep }: StepProps<'second-factor'>) {
  const form = useForm({ token: '' }, async ({ token }) => onStep(await step.verify(token)));
  return (
    <Form label="Second factor" action={form} submit="Continue">
      <p className="muted">
        Open your authenticator app and type the code that it shows for this service, or one of your recovery
        codes.
      </p>
      <TokenField {...form.field('token')} autoFocus orRecovery />
    </Form>
  );
}

/** The Project wants a second factor and this person has none yet; then they are shown its recovery codes. */
function EnrollForm({ step, onStep }: StepProps<'enroll-second-factor'>) {
  const [next, setNext] = useState<EnrolledStep>();
  const form = useForm({ token: '' }, async ({ token }) => setNext(await step.enroll(token)));
  const goOn = useAction(async () => next && onStep(next));
  if (next)
    return (
      <Form label="Your recovery codes" action={goOn} submit="I have kept them: continue">
        <RecoveryCodes codes={next.recoveryCodes} heading="h2" />
      </Form>
    );
  return (
    <Form label="Add a second factor" action={form} submit="Add and continue">
      <p className="muted">
        This project requires a code from an authenticator app beside your password. Scan this with the app:
      </p>
      <SecretToScan uri={step.uri} qrCode={step.qrCode} />
      <TokenField {...form.field('token')} autoFocus />
    </Form>
  );
}

/** Six digits of an authenticator app (RFC 6238). @param props.orRecovery where a recovery code is as good */
export function TokenField({
  orRecovery = false,
  ...props
}: Omit<TextFieldProps, 'label'> & { orRecovery?: boolean }) {
  return (
    <TextField
      label={orRecovery ? 'Six-digit code, or a recovery code' : 'Six-digit code'}
      inputMode={orRecovery ? 'text' : 'numeric'}
      autoComplete="one-time-code"
      {...(orRecovery ? { maxLength: 40 } : { pattern: '[0-9]{6}', maxLength: 6 })}
      {...props}
      isRequired
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
