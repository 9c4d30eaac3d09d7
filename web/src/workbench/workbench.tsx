import type { Bot } from '@medplum/fhirtypes';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { CodeForm } from '../bots/code-form.tsx';
import { ConsoleTab } from '../bots/console-tab.tsx';
import { readSource, type Source } from '../bots/source.ts';
import type { MountedEditor, PlacedProblem } from '../editor/mount-editor.ts';
import { Loading } from '../ui/loading.tsx';
import { CodePlaces } from './places.tsx';
import { Problems } from './problems.tsx';

/** The Bot's source as it was saved last, to be changed and deployed, beside a console that runs it. */
export function Workbench({ bot }: { bot: Bot }) {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => readSource(api, bot.id ?? '', signal), [api, bot.id]);
  return <Loading of={useLoad(load)}>{(source) => <Bench bot={bot} source={source} />}</Loading>;
}

function Bench({ bot, source: first }: { bot: Bot; source: Source }) {
  const editor = useRef<MountedEditor>(undefined);
  const [source, setSource] = useState(first);
  const [saved, setSaved] = useState(first);
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
            saved={first}
            source={source}
            editor={editor}
            onChange={setSource}
            onProblems={setProblems}
            onSaved={setSaved}
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
