import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { DiffView } from '../versions/diff-view.tsx';

interface Props {
  mine: string;
  theirs: string;
  onKeep(): void;
  onTake(): void;
}

/** Somebody else has saved the record meanwhile: nothing was written, and whoever types here decides. */
export function Conflict({ mine, theirs, onKeep, onTake }: Props) {
  return (
    <>
      <Notice kind="bad">
        <p>
          <strong>Somebody else has changed this record since you began.</strong> Yours is not saved, and
          still stands above.
        </p>
      </Notice>
      <DiffView label="From their version to yours" before={theirs} after={mine} />
      <div className="buttons">
        <Button onPress={onKeep}>Go on with mine</Button>
        <Button onPress={onTake}>Discard mine and take theirs</Button>
      </div>
      <p className="help">
        If you go on with yours and save, it replaces theirs; theirs stays in the history.
      </p>
    </>
  );
}
