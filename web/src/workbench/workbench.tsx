import type { Bot } from '@medplum/fhirtypes';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { CodeForm } from '../bots/code-form.tsx';
import { ConsoleTab } from '../bots/console-tab.tsx';
import { readSource, type Source } from '../bots/source.ts';
import { DraftNotice } from '../drafts/draft-notice.tsx';
import { type DraftState, useDraft } from '../drafts/use-draft.ts';
import type { MountedEditor, PlacedProblem } from '../editor/mount-editor.ts';
import { Loading } from '../ui/loading.tsx';
import { type DeployedCode, readDeployedCode } from '../versions/deployed-code.ts';
import { CodePlaces } from './places.tsx';
import { Problems } from './problems.tsx';
import { RunningVersion } from './running-version.tsx';

/** The Bot's source as it was saved last, to be changed and deployed, beside a console that runs it. */
export function Workbench({ bot }: { bot: Bot }) {
  const api = useApi();
  const load = useCallback(
    async (signal: AbortSignal) => {
      const [source, running] = await Promise.all([
        readSource(api, bot.id ?? '', signal),
        readDeployedCode(api, bot.id ?? '', { signal }),
      ]);
      return { source, running };
    },
    [api, bot.id],
  );
  return <Loading of={useLoad(load)}>{(first) => <DraftedBench bot={bot} {...first} />}</Loading>;
}

interface DraftedProps {
  bot: Bot;
  source: Source;
  running: DeployedCode | undefined;
}

/** What was typed and not saved is found again. */
function DraftedBench({ bot, source, running }: DraftedProps) {
  const draft = useDraft<Source>(`Bot/${bot.id}`, source);
  return (
    <>
      <DraftNotice draft={draft.found} savedNow={source} onDiscard={draft.discard} />
      {draft.begin && (
        <Bench
          key={draft.round}
          bot={bot}
          begin={draft.begin}
          savedNow={draft.found ? source : draft.begin}
          draft={draft}
          firstRunning={running}
        />
      )}
    </>
  );
}

interface BenchProps {
  bot: Bot;
  begin: Source;
  savedNow: Source;
  draft: DraftState<Source>;
  firstRunning: DeployedCode | undefined;
}

function Bench({ bot, begin, savedNow, draft, firstRunning }: BenchProps) {
  const api = useApi();
  const [running, setRunning] = useState(firstRunning);
  const editor = useRef<MountedEditor>(undefined);
  const [source, setSource] = useState(begin);
  const [saved, setSaved] = useState(savedNow);
  const [problems, setProblems] = useState<readonly PlacedProblem[]>();
  const readRunning = async () => {
    // It runs already: when it cannot be read now, the page says so with the next opening.
    setRunning(await readDeployedCode(api, bot.id ?? '', {}).catch(() => running));
  };
  const places = useMemo(
    () => ({
      filename: source.filename,
      goTo: (line: number, column: number) => editor.current?.goTo(line, column),
    }),
    [source.filename],
  );
  return (
    <CodePlaces value={places}>
      <div className="bench">
        <div className="bench-code">
          <CodeForm
            bot={bot}
            saved={begin}
            source={source}
            editor={editor}
            onChange={(next) => {
              setSource(next);
              draft.keep(next);
            }}
            onProblems={setProblems}
            onSaved={(next) => {
              setSaved(next);
              draft.saved(next);
            }}
            onDeployed={readRunning}
          />
          {problems && <Problems problems={problems} goTo={places.goTo} />}
          <RunningVersion running={running} source={source} />
          {(source.text !== saved.text || source.filename !== saved.filename) && (
            <p className="muted">You have unsaved changes.</p>
          )}
        </div>
        <section className="bench-console" aria-label="Console">
          <ConsoleTab bot={bot} />
        </section>
      </div>
    </CodePlaces>
  );
}
