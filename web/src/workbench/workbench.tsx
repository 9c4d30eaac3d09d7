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
import { CodePlaces } from './places.tsx';
import { Problems } from './problems.tsx';

/** The Bot's source as it was saved last, to be changed and deployed, beside a console that runs it. */
export function Workbench({ bot }: { bot: Bot }) {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => readSource(api, bot.id ?? '', signal), [api, bot.id]);
  return <Loading of={useLoad(load)}>{(source) => <DraftedBench bot={bot} source={source} />}</Loading>;
}

/** What was typed and not saved is found again. */
function DraftedBench({ bot, source }: { bot: Bot; source: Source }) {
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
}

function Bench({ bot, begin, savedNow, draft }: BenchProps) {
  const editor = useRef<MountedEditor>(undefined);
  const [source, setSource] = useState(begin);
  const [saved, setSaved] = useState(savedNow);
  const [problems, setProblems] = useState<readonly PlacedProblem[]>();
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
            onDeployed={setSaved}
          />
          {problems && <Problems problems={problems} goTo={places.goTo} />}
          {(source.text !== saved.text || source.filename !== saved.filename) && (
            <p className="muted">There are changes that are not saved.</p>
          )}
        </div>
        <section className="bench-console" aria-label="Console">
          <ConsoleTab bot={bot} />
        </section>
      </div>
    </CodePlaces>
  );
}
