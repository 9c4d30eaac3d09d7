import type { ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { messageOf } from '../api/message-of.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Notice } from '../ui/notice.tsx';
import { columnsOf } from './member-columns.ts';

interface Props {
  /** Members whose invitation is open. */
  selected: readonly ProjectMembership[];
  onClear(): void;
  onDone(): void;
}

interface Outcome {
  done: string;
  /** A sentence for each that was refused. */
  refused: readonly string[];
}

/** What can be done with the invitations that are selected, and what came of it. */
export function SelectionBar({ selected, onClear, onDone }: Props) {
  const { admin, send } = useApi();
  const [outcome, setOutcome] = useState<Outcome>();
  const [isAsking, setAsking] = useState(false);
  const revocable = selected.filter((one) => columnsOf(one).isRevocable);
  const forEach = async (method: string, some: readonly ProjectMembership[], done: string) => {
    setOutcome(undefined);
    const refused: string[] = [];
    for (const one of some) {
      await send(method, `${admin}/members/${one.id}/invitation`).catch((error: unknown) =>
        refused.push(`${columnsOf(one).name}: ${messageOf(error)}`),
      );
    }
    setAsking(false);
    setOutcome({ done: `${done}: ${some.length - refused.length} of ${some.length}.`, refused });
    onClear();
    onDone();
  };
  const resend = useAction(() =>
    forEach('POST', selected, 'New links are on their way; earlier links no longer work'),
  );
  const revoke = useAction(() => forEach('DELETE', revocable, 'Invitations revoked'));
  return (
    <>
      {outcome && (
        <Notice kind={outcome.refused.length > 0 ? 'bad' : 'good'}>
          <p>{outcome.done}</p>
          {outcome.refused.length > 0 && (
            <ul>
              {outcome.refused.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          )}
        </Notice>
      )}
      {selected.length > 0 && (
        <fieldset className="selection">
          <legend>{selected.length} selected</legend>
          <Button isPending={resend.isBusy} onPress={() => resend.run()}>
            Send new links
          </Button>
          {revocable.length > 0 && (
            <Button kind="danger" onPress={() => setAsking(true)}>
              Revoke
            </Button>
          )}
          <Button kind="quiet" onPress={onClear}>
            Clear the selection
          </Button>
        </fieldset>
      )}
      <Confirm
        isOpen={isAsking}
        title={`Revoke ${revocable.length} ${revocable.length === 1 ? 'invitation' : 'invitations'}?`}
        deed="Revoke them"
        isBusy={revoke.isBusy}
        message={revoke.message}
        onConfirm={() => revoke.run()}
        onClose={() => setAsking(false)}
      >
        <p>The links in the mails stop working at once. The people can be invited again at any time.</p>
      </Confirm>
    </>
  );
}
