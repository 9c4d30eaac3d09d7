import type { SignInStep } from '../../../client/src/index.ts';
import { ChooseMembership } from './choose-membership.tsx';
import { ChoosePatient } from './choose-patient.tsx';
import { EnrollForm } from './enroll-form.tsx';
import { SecondFactorForm } from './second-factor-form.tsx';

export const stepTitles: Record<SignInStep['kind'], string> = {
  code: 'Sign in',
  choose: 'Where do you want to go?',
  'choose-patient': 'Whose record is it for?',
  'second-factor': 'Your second factor',
  'enroll-second-factor': 'Add a second factor',
};

interface Props {
  step: SignInStep;
  onStep(step: SignInStep): Promise<void>;
}

/** What the service asks for after the password; nothing when it has answered a code. */
export function NextStep({ step, onStep }: Props) {
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
