import type { Bot } from '@medplum/fhirtypes';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { type Action, useAction, useApi } from '../api/use-api.ts';
import { CodeEditor } from '../editor/code-editor.tsx';
import type { MountedEditor, PlacedProblem } from '../editor/mount-editor.ts';
import { Button, Failure, Notice } from '../ui/basics.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { TextWithPlaces } from './places.tsx';
import { type Source, saveSource } from './source.ts';

/** The example Bots, by their names; each is loaded when it is chosen. */
const sources = import.meta.glob<string>('../../../examples/bots/*.ts', { query: '?raw', import: 'default' });

const templates = Object.keys(sources)
  .map((path) => ({ path, name: /([^/]+)\.ts$/.exec(path)?.[1] ?? path }))
  .map(({ path, name }) => ({ value: path, label: name.replaceAll('-', ' ') }));

async function readTemplate(path: string): Promise<string> {
  const read = sources[path];
  if (!read) throw new Error('There is no such template');
  return read();
}

const options = [{ value: '', label: 'None' }, ...templates];

/** Begins with an example. What was written is not overwritten unasked. */
function TemplatePicker({ text, onPick }: { text: string; onPick(text: string): void }) {
  const [chosen, setChosen] = useState('');
  const [asked, setAsked] = useState<string>();
  const [own, setOwn] = useState('');
  const pick = useAction(async (path: string) => {
    setChosen(path);
    setAsked(undefined);
    if (path === '') return;
    const template = await readTemplate(path);
    setOwn(template);
    onPick(template);
  });
  const isWritten = text.trim() !== '' && text !== own;
  return (
    <>
      <Select
        label="Begin with an example"
        value={chosen}
        options={options}
        onChange={(path) => (path !== '' && isWritten ? setAsked(path) : void pick.run(path))}
      />
      <Failure message={pick.message} />
      <Confirm
        isOpen={asked !== undefined}
        title="Replace the code?"
        deed="Replace it"
        isBusy={pick.isBusy}
        message={undefined}
        onConfirm={() => pick.run(asked ?? '')}
        onClose={() => setAsked(undefined)}
      >
        <p>The example replaces what is in the editor. Undo brings it back.</p>
      </Confirm>
    </>
  );
}

interface Props {
  bot: Bot;
  /** As it was saved last. */
  saved: Source;
  source: Source;
  editor: RefObject<MountedEditor | undefined>;
  onChange(source: Source): void;
  onProblems(problems: readonly PlacedProblem[]): void;
  onSaved(source: Source): void;
  onDeployed(): void;
}

/** Saving keeps the text; deploying also makes it what runs, if it compiles. */
export function CodeForm({ bot, saved, source, editor, onChange, onProblems, onSaved, onDeployed }: Props) {
  const api = useApi();
  const [done, setDone] = useState<string>();
  const id = bot.id ?? '';
  const latest = useRef(source);
  latest.current = source;
  const save = useAction(async () => {
    setDone(undefined);
    deploy.clear();
    const { current } = latest;
    await saveSource(api, id, current);
    onSaved(current);
    setDone('Saved. What runs is the version that was deployed last.');
  }, ['filename']);
  const deploy: Action<void, unknown> = useAction(async () => {
    setDone(undefined);
    save.clear();
    const { current } = latest;
    await saveSource(api, id, current);
    onSaved(current);
    await api.send('POST', `fhir/R4/Bot/${id}/$deploy`, { code: current.text, filename: current.filename });
    onDeployed();
    setDone('Deployed. From now on this version runs.');
  }, ['filename']);
  useSaveKey(() => save.run());
  const message = deploy.message ?? save.message;
  return (
    <Form label="Code" fieldErrors={deploy.fieldErrors} onSubmit={() => deploy.run()}>
      <CodeEditor
        text={saved.text}
        language="typescript"
        label="Code of the Bot"
        handle={editor}
        checks={{ filename: () => latest.current.filename, onProblems }}
        onChange={(text) => {
          // What was said of the code before is not true of this.
          setDone(undefined);
          onChange({ ...latest.current, text });
        }}
      />
      <div className="form-pair">
        <TextField
          label="File name"
          name="filename"
          help="The extension decides how it is read: .ts, .js, .mjs or .cjs."
          value={source.filename}
          onChange={(filename) => onChange({ ...latest.current, filename })}
          isRequired
        />
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
      <div className="buttons">
        <Button type="submit" kind="primary" isPending={deploy.isBusy}>
          Save and deploy
        </Button>
        <Button isPending={save.isBusy} onPress={() => save.run()} aria-keyshortcuts="Control+S">
          Save only
        </Button>
      </div>
    </Form>
  );
}

/** Control+S, or Command+S, saves instead of downloading the page. */
function useSaveKey(onSave: () => void): void {
  const latest = useRef(onSave);
  latest.current = onSave;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
