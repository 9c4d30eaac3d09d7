import type { Bot } from '@medplum/fhirtypes';
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { Button as PlaceButton } from 'react-aria-components';
import { recordOf } from '../../../shared/base/values.ts';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { Drafted, type DraftState } from '../drafts/use-draft.tsx';
import { CodeEditor } from '../editor/code-editor.tsx';
import type { MountedEditor } from '../editor/mount-editor.ts';
import type { PlacedProblem } from '../editor/types/extension.ts';
import { ActionButton, Badge, Button, Card, Failure, Loading, Notice } from '../ui/basics.tsx';
import { DiffView } from '../ui/diff-view.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Confirm } from '../ui/page.tsx';
import { ConsoleTab } from './console-tab.tsx';
import { CodePlaces, type GoTo, TextWithPlaces } from './run-log.tsx';
import { readDeployedCode, readSource, type Source, saveSource, type VersionCode } from './versions.tsx';

/** The Bot's source as it was saved last, to be changed and deployed, beside a console that runs it. */
export function Workbench({ bot }: { bot: Bot }) {
  const api = useApi();
  const id = bot.id ?? '';
  const loaded = useLoad(id, async (signal) => {
    const [source, running] = await Promise.all([
      readSource(api, id, signal),
      readDeployedCode(api, id, { signal }),
    ]);
    return { source, running };
  });
  return (
    <Loading of={loaded}>
      {({ source, running }) => (
        <Drafted name={`Bot/${id}`} savedNow={source}>
          {(draft) => <Bench bot={bot} draft={draft} savedFirst={source} runningFirst={running} />}
        </Drafted>
      )}
    </Loading>
  );
}

interface BenchProps {
  bot: Bot;
  draft: DraftState<Source>;
  savedFirst: Source;
  runningFirst: VersionCode | undefined;
}

/** Saving keeps the text; deploying also makes it what runs, if it compiles. */
function Bench({ bot, draft, savedFirst, runningFirst }: BenchProps) {
  const api = useApi();
  const id = bot.id ?? '';
  const editor = useRef<MountedEditor>(undefined);
  const [begin] = useState(draft.begin);
  const [source, setSource] = useState(begin);
  const [saved, setSaved] = useState(savedFirst);
  const [running, setRunning] = useState(runningFirst);
  const [problems, setProblems] = useState<readonly PlacedProblem[]>();
  const [done, setDone] = useState<string>();
  const latest = useRef(source);
  latest.current = source;
  const change = (some: Partial<Source>) => {
    const next = { ...latest.current, ...some };
    setSource(next);
    draft.keep(next);
  };
  const keep = async () => {
    setDone(undefined);
    save.clear();
    deploy.clear();
    const { current } = latest;
    await saveSource(api, id, current);
    setSaved(current);
    draft.saved(current);
    return current;
  };
  const save = useAction(async () => {
    await keep();
    setDone('Saved. What runs is the version that was deployed last.');
  }, ['filename']);
  const deploy = useAction(async () => {
    const { text: code, filename } = await keep();
    await api.send('POST', `fhir/R4/Bot/${id}/$deploy`, { code, filename });
    setDone('Deployed. From now on this version runs.');
    // It runs already: when it cannot be read now, the page says so with the next opening.
    void readDeployedCode(api, id).then(setRunning, () => undefined);
  }, ['filename']);
  useSaveKey(() => save.run());
  const message = deploy.message ?? save.message;
  const { filename } = source;
  const places = useMemo(
    () => ({ filename, goTo: (line: number, column: number) => editor.current?.goTo(line, column) }),
    [filename],
  );
  return (
    <CodePlaces value={places}>
      <div className="bench">
        <div className="bench-code">
          <Form
            label="Code"
            action={{ ...deploy, message: undefined }}
            submit="Save and deploy"
            beside={<ActionButton label="Save only" action={save} aria-keyshortcuts="Control+S" />}
          >
            <CodeEditor
              text={begin.text}
              language="typescript"
              label="Code of the Bot"
              handle={editor}
              checks={{ filename: () => latest.current.filename, onProblems: setProblems }}
              onChange={(text) => {
                // What was said of the code before is not true of this.
                setDone(undefined);
                change({ text });
              }}
            />
            <div className="form-pair">
              <TextField
                label="File name"
                name="filename"
                value={filename}
                onChange={(next) => change({ filename: next })}
                isRequired
              >
                The extension decides how it is read: .ts, .js, .mjs or .cjs.
              </TextField>
              <TemplatePicker text={source.text} onPick={(text) => editor.current?.replace(text)} />
            </div>
            {message !== undefined && (
              <Notice kind="bad" key={message}>
                <p>
                  <TextWithPlaces text={message} />
                </p>
              </Notice>
            )}
            {done && <Notice kind="good">{done}</Notice>}
          </Form>
          {problems && <Problems problems={problems} goTo={places.goTo} />}
          <RunningVersion running={running} source={source} />
          {(source.text !== saved.text || filename !== saved.filename) && (
            <p className="muted">You have unsaved changes.</p>
          )}
        </div>
        <Card label="Console" className="bench-console">
          <ConsoleTab bot={bot} />
        </Card>
      </div>
    </CodePlaces>
  );
}

/** Control+S, or Command+S, saves instead of downloading the page. */
function useSaveKey(onSave: () => void): void {
  const save = useEffectEvent(onSave);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      save();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** The example Bots, by their names; each is loaded when it is chosen. */
const sources = import.meta.glob<string>('../../../examples/bots/*.ts', { query: '?raw', import: 'default' });

const examples = recordOf(Object.keys(sources), (path) => {
  const name = /([^/]+)\.ts$/.exec(path)?.[1] ?? path;
  return name.replaceAll('-', ' ');
});

function TemplatePicker({ text, onPick }: { text: string; onPick(text: string): void }) {
  const [chosen, setChosen] = useState('');
  const [asked, setAsked] = useState<string>();
  const [own, setOwn] = useState('');
  const begin = async (path: string) => {
    setChosen(path);
    const template = await sources[path]?.();
    if (template === undefined) return;
    setOwn(template);
    onPick(template);
  };
  const pick = useAction(begin);
  const isWritten = text.trim() !== '' && text !== own;
  return (
    <>
      <Select
        label="Begin with an example"
        value={chosen}
        options={{ '': 'None', ...examples }}
        onChange={(path) => (path !== '' && isWritten ? setAsked(path) : void pick.run(path))}
      />
      <Failure message={pick.message} />
      <Confirm
        isOpen={asked !== undefined}
        title="Replace the code?"
        deed="Replace it"
        act={() => begin(asked ?? '')}
        onClose={() => setAsked(undefined)}
      >
        <p>The example replaces what is in the editor. Undo brings it back.</p>
      </Confirm>
    </>
  );
}

const mostListed = 50;

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
              <PlaceButton className="link place" onPress={() => goTo(line, column)}>
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

function RunningVersion({ running, source }: { running: VersionCode | undefined; source: Source }) {
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
