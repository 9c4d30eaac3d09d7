import type { MembershipChoice, SignInStep } from '../../../client/src/index.ts';
import { useAction } from '../api/use-api.ts';
import { profileType } from '../members/invitation.ts';
import { Button, Failure } from '../ui/basics.tsx';
import { EnrollForm, SecondFactorForm } from './second-factor.tsx';

export const stepTitles: Record<SignInStep['kind'], string> = {
  code: 'Sign in',
  choose: 'Where do you want to go?',
  'choose-patient': 'Whose record is it for?',
  'second-factor': 'Your second factor',
  'enroll-second-factor': 'Add a second factor',
};

interface NextStepProps {
  step: SignInStep;
  onStep(step: SignInStep): Promise<void>;
}

/** What the service asks for after the password; nothing when it has answered a code. */
export function NextStep({ step, onStep }: NextStepProps) {
  switch (step.kind) {
    case 'choose':
      return <ChooseMembership step={step} onStep={onStep} />;
    case 'choose-patient':
      return <ChoosePatient step={step} onStep={onStep} />;
    case 'second-factor':
      return <SecondFactorForm step={step} onStep={onStep} />;
    case 'enroll-second-factor':
      return <EnrollForm step={step} onStep={onStep} />;
    case 'code':
      return null;
  }
}

interface ChooseMembershipProps {
  step: Extract<SignInStep, { kind: 'choose' }>;
  onStep(step: SignInStep): Promise<void>;
}

/** Somebody who has a place in several Projects, or an invitation that is still open. */
export function ChooseMembership({ step, onStep }: ChooseMembershipProps) {
  const { run, isBusy, message } = useAction(async (id: string) => onStep(await step.choose(id)));
  return (
    <>
      <p className="muted">Choosing a project that you are invited to accepts the invitation.</p>
      <Failure message={message} />
      <ul className="choices">
        {step.memberships.map((membership) => (
          <li key={membership.id}>
            <Button className="choice" isDisabled={isBusy} onPress={() => run(membership.id)}>
              <span className="row-main">
                <span className="row-title">
                  {membership.project.display ?? membership.project.reference}
                </span>
                <span className="row-more">{whoIn(membership)}</span>
              </span>
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

function whoIn({ profile }: MembershipChoice): string {
  return [profile.display, profileType(profile.reference)].filter(Boolean).join(', ');
}

interface ChoosePatientProps {
  step: Extract<SignInStep, { kind: 'choose-patient' }>;
  onStep(step: SignInStep): Promise<void>;
}

/** Somebody with several patients picks the one that the app is to see. */
export function ChoosePatient({ step, onStep }: ChoosePatientProps) {
  const { run, isBusy, message } = useAction(async (reference: string) =>
    onStep(await step.choose(reference)),
  );
  return (
    <>
      <p className="muted">The app sees the record of the one you choose, and no other.</p>
      <Failure message={message} />
      <ul className="choices">
        {step.patients.map(({ reference, display }) => (
          <li key={reference}>
            <Button className="choice" isDisabled={isBusy} onPress={() => run(reference)}>
              <span className="row-main">
                <span className="row-title">{display ?? reference}</span>
              </span>
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}
