import type { MembershipChoice, SignInStep } from '../../../client/src/index.ts';
import { useAction } from '../api/use-action.ts';
import { profileType } from '../members/profile-type.ts';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notice.tsx';

interface Props {
  step: Extract<SignInStep, { kind: 'choose' }>;
  onStep(step: SignInStep): Promise<void>;
}

/** Somebody who has a place in several Projects, or an invitation that is still open. */
export function ChooseMembership({ step, onStep }: Props) {
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
