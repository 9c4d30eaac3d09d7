import type { Bot } from '@medplum/fhirtypes';
import { useState } from 'react';
import type { InputType } from '../../../shared/bot/input/input-types.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type Run, runBot } from './run-bot.ts';
import { RunResult } from './run-result.tsx';
import { samples } from './samples.ts';

/** Executes the Bot as a sender would, once for each press. */
export function ConsoleTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const [type, setType] = useState<InputType>('text/plain');
  const [texts, setTexts] = useState<Record<string, string>>(
    Object.fromEntries(samples.map(({ value, text }) => [value, text])),
  );
  const [run, setRun] = useState<Run>();
  const execute = useAction(async () => {
    setRun(undefined);
    setRun(await runBot(api, bot.id ?? '', type, texts[type] ?? ''));
  });
  return (
    <div className="split">
      <Form label="Input" onSubmit={() => execute.run()}>
        <Select label="Content type" value={type} options={samples} onChange={setType} help={type} />
        <TextField
          label="Input"
          rows={10}
          isCode
          spellCheck="false"
          value={texts[type] ?? ''}
          onChange={(text) => setTexts({ ...texts, [type]: text })}
        />
        <div className="buttons">
          <Button type="submit" kind="primary" isPending={execute.isBusy}>
            Run
          </Button>
        </div>
        <Failure message={execute.message} />
      </Form>
      <RunResult bot={bot} run={run} isBusy={execute.isBusy} />
    </div>
  );
}
