import { OperationOutcomeError } from '../../../client/src/index.ts';
import { NameOf } from '../records/name-of-reference.tsx';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import type { WhichProfile } from './invite-fields.ts';

/** The records with the address that an invite was refused for; undefined for any other refusal. */
export function existingProfilesOf(error: unknown): string[] | undefined {
  if (!(error instanceof OperationOutcomeError) || error.status !== 409) return undefined;
  const found = error.outcome.issue.flatMap(({ expression, diagnostics }) =>
    expression?.includes('profile') && diagnostics ? [diagnostics] : [],
  );
  return found.length > 0 ? found : undefined;
}

interface Props {
  references: readonly string[];
  isBusy: boolean;
  onChoose(which: WhichProfile): void;
}

/** Asks which record is the invited person's: the address in one does not say. */
export function ExistingProfiles({ references, isBusy, onChoose }: Props) {
  return (
    <Notice kind="plain">
      <p>
        <strong>There is a record with this e-mail address already.</strong> Is this the person you are
        inviting? Whoever accepts will see what is in it.
      </p>
      <div className="buttons">
        {references.map((reference) => (
          <Button key={reference} isPending={isBusy} onPress={() => onChoose({ profile: { reference } })}>
            Use the record of <NameOf reference={reference} />
          </Button>
        ))}
        <Button isPending={isBusy} onPress={() => onChoose({ newProfile: true })}>
          Make a new record
        </Button>
      </div>
    </Notice>
  );
}
