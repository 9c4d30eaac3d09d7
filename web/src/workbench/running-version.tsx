import { useState } from 'react';
import type { Source } from '../bots/source.ts';
import { Button } from '../ui/button.tsx';
import type { DeployedCode } from '../versions/deployed-code.ts';
import { DiffView } from '../versions/diff-view.tsx';

/** Says when the editor holds something else than what runs, and what differs. */
export function RunningVersion({ running, source }: { running: DeployedCode | undefined; source: Source }) {
  const [isOpen, setOpen] = useState(false);
  if (!running) return <p className="muted">Nothing is deployed yet.</p>;
  const name = running.hash.slice(0, 8);
  // What was compiled never equals what was written.
  if (running.isCompiled) return <p className="muted">Version {name} runs; its source is not kept.</p>;
  if (running.text === source.text && running.filename === source.filename) {
    return <p className="muted">The editor holds version {name}, which runs.</p>;
  }
  return (
    <>
      <p>
        The editor differs from version {name}, which runs.{' '}
        <Button kind="quiet" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide' : 'Show'} the differences
        </Button>
      </p>
      {isOpen && (
        <DiffView label={`From version ${name} to the editor`} before={running.text} after={source.text} />
      )}
    </>
  );
}
