import type { Bot } from '@medplum/fhirtypes';
import { useRef, useState } from 'react';
import type { InputType } from '../../../shared/bot/input/input-types.ts';
import { useAction } from '../api/use-action.ts';
import { useAddressState } from '../api/use-address-state.ts';
import { useApi } from '../api/use-api.ts';
import { useKept } from '../drafts/use-kept.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { ReadyCalls } from '../workbench/ready-calls.tsx';
import { Segments } from '../workbench/segments.tsx';
import { cancelRun, type Run, runBot } from './run-bot.ts';
import { RunResult } from './run-result.tsx';
import { samples } from './samples.ts';

const inputTypes = samples.map(({ value }) => value);

/** Executes the Bot as a sender would, once for each press. */
export function ConsoleTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const [type, setType] = useAddressState<InputType>('input', inputTypes, 'text/plain');
  const [texts, setTexts] = useKept<Record<string, string>>(
    `console ${bot.id}`,
    Object.fromEntries(samples.map(({ value, text }) => [value, text])),
  );
  const [run, setRun] = useState<Run>();
  const runKey = useRef('');
  const [isEnding, setEnding] = useState(false);
  const execute = useAction(async () => {
    setRun(undefined);
    setEnding(false);
    runKey.current = crypto.randomUUID();
    setRun(await runBot(api, bot.id ?? '', { type, text: texts[type] ?? '', runKey: runKey.current }));
  });
  const cancel = useAction(async () => {
    await cancelRun(api, runKey.current);
    setEnding(true);
  });
  const text = texts[type] ?? '';
  return (
    <>
      <Form label="Input" onSubmit={() => execute.run()}>
        <Select label="Content type" value={type} options={samples} onChange={setType} help={type} />
        <TextField
          label="Input"
          rows={8}
          isCode
          spellCheck="false"
          value={text}
          onChange={(next) => setTexts({ ...texts, [type]: next })}
        />
        {type === 'x-application/hl7-v2+er7' && <Segments text={text} />}
        <div className="buttons">
          <Button type="submit" kind="primary" isPending={execute.isBusy}>
            Run
          </Button>
          {execute.isBusy && (
            <Button isPending={cancel.isBusy || isEnding} onPress={() => cancel.run()}>
              Cancel
            </Button>
          )}
        </div>
        <Failure message={execute.message} />
        <Failure message={cancel.message} />
        {isEnding && execute.isBusy && (
          <Notice kind="plain">Cancelling: the run is stopped within a few seconds.</Notice>
        )}
        {isEnding && run?.isCancelled && (
          <Notice kind="plain">
            Cancelled: the run was stopped. What it had written by then stays, and it is listed under
            Executions.
          </Notice>
        )}
      </Form>
      <RunResult bot={bot} run={run} isBusy={execute.isBusy} />
      <ReadyCalls bot={bot} type={type} />
    </>
  );
}
