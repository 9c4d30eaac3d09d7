import { Button } from '../ui/button.tsx';
import { Moment } from '../ui/moment.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Draft } from './drafts.ts';
import { isSame } from './is-same.ts';

interface Props<T> {
  draft: Draft<T> | undefined;
  /** Undefined when nothing is saved yet. */
  savedNow: T | undefined;
  onDiscard(): void;
}

/** Says that what is shown was never saved. */
export function DraftNotice<T>({ draft, savedNow, onDiscard }: Props<T>) {
  if (!draft) return null;
  return (
    <Notice kind="plain">
      <p>
        These are your unsaved changes of <Moment at={new Date(draft.atMs).toISOString()} />.{' '}
        {savedNow !== undefined && !isSame(draft.base, savedNow) && (
          <strong>Somebody has saved another version since: saving yours replaces it.</strong>
        )}
      </p>
      <Button onPress={onDiscard}>Discard my changes</Button>
    </Notice>
  );
}
