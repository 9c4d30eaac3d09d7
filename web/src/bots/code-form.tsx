import type { Bot } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { CodeEditor } from '../editor/code-editor.tsx';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type Source, saveSource } from './source.ts';

/** Saving keeps the text; deploying also makes it what runs, if it compiles. */
export function CodeForm({ bot, source }: { bot: Bot; source: Source }) {
  const api = useApi();
  const [text, setText] = useState(source.text);
  const [filename, setFilename] = useState(source.filename);
  const [done, setDone] = useState<string>();
  const id = bot.id ?? '';
  const save = useAction(async () => {
    setDone(undefined);
    await saveSource(api, id, { text, filename });
    setDone('Saved. What runs is the version that was deployed last.');
  }, ['filename']);
  const deploy = useAction(async () => {
    setDone(undefined);
    save.clear();
    await saveSource(api, id, { text, filename });
    await api.send('POST', `fhir/R4/Bot/${id}/$deploy`, { code: text, filename });
    setDone('Deployed. From now on this version runs.');
  }, ['filename']);
  return (
    <Form label="Code" fieldErrors={deploy.fieldErrors} onSubmit={() => deploy.run()}>
      <CodeEditor text={source.text} language="typescript" label="Code of the Bot" onChange={setText} />
      <div className="narrow">
        <TextField
          label="File name"
          name="filename"
          help="The ending says how it is read: .ts, .js, .mjs or .cjs."
          value={filename}
          onChange={setFilename}
          isRequired
        />
      </div>
      <Failure message={deploy.message ?? save.message} />
      {done && <Notice kind="good">{done}</Notice>}
      <div className="buttons">
        <Button type="submit" kind="primary" isPending={deploy.isBusy}>
          Save and deploy
        </Button>
        <Button isPending={save.isBusy} onPress={() => save.run()}>
          Save only
        </Button>
      </div>
    </Form>
  );
}
