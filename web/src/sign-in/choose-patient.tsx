import type { SignInStep } from '../../../client/src/index.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notice.tsx';

interface Props {
  step: Extract<SignInStep, { kind: 'choose-patient' }>;
  onStep(step: SignInStep): Promise<void>;
}

/** Somebody with several patients picks the one that the app is to see. */
export function ChoosePatient({ step, onStep }: Props) {
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
