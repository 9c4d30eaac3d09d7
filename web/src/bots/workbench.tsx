import type { Bot } from '@medplum/fhirtypes';
import { useCallback, useMemo, useRef, useState } from 'react';
import { Button as PlaceButton } from 'react-aria-components';
import { useApi, useLoad } from '../api/use-api.ts';
import { DraftNotice, type DraftState, useDraft } from '../drafts/use-draft.tsx';
import type { MountedEditor, PlacedProblem } from '../editor/mount-editor.ts';
import { Badge, Button, Loading } from '../ui/basics.tsx';
import { DiffView } from '../ui/diff-view.tsx';
import { CodeForm } from './code-form.tsx';
import { ConsoleTab } from './console-tab.tsx';
import { CodePlaces, type GoTo } from './places.tsx';
import { type DeployedCode, readDeployedCode, readSource, type Source } from './source.ts';

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

const mostListed = 50;

/** What the compiler says of the code as it stands, each leading to its line. */
function Problems({ problems, goTo }: { problems: readonly PlacedProblem[]; goTo: GoTo }) {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return (
    <section className="problems" aria-label="Problems">
      <p className="muted" role="status">
        {problems.length === 0 ? 'No problems found.' : countWords(errors, problems.length - errors)}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.slice(0, mostListed).map(({ line, column, severity, message }) => (
            <li key={`${line}:${column} ${message}`}>
              <Badge kind={severity === 'error' ? 'bad' : 'waiting'}>{severity}</Badge>{' '}
              <PlaceButton className="place" onPress={() => goTo(line, column)}>
                line {line}
              </PlaceButton>{' '}
              {message}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function countWords(errors: number, warnings: number): string {
  const words = [
    errors > 0 ? `${errors} ${errors === 1 ? 'error keeps' : 'errors keep'} it from being deployed` : '',
    warnings > 0 ? `${warnings} ${warnings === 1 ? 'type does' : 'types do'} not fit` : '',
  ];
  return `${words.filter(Boolean).join(', ')}.`;
}

/** Says when the editor holds something else than what runs, and what differs. */
function RunningVersion({ running, source }: { running: DeployedCode | undefined; source: Source }) {
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
