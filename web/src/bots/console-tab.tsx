import type { Bot } from '@medplum/fhirtypes';
import { useRef, useState } from 'react';
import type { InputType } from '../../../shared/bots/run/contract.ts';
import { useAction, useApi } from '../api/use-api.ts';
import { useAddressState } from '../api/use-pages.ts';
import { useKept } from '../drafts/use-draft.tsx';
import { LogView, useRunLog } from '../executions/run-log.tsx';
import { baseUrl } from '../session/session.ts';
import { Badge, Button, CopyButton, Failure, Notice, Output } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { TextWithPlaces } from './places.tsx';
import { cancelRun, type Run, runBot, samples } from './run-bot.ts';

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

const milliseconds = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'millisecond',
  maximumFractionDigits: 0,
});

/** The answer to a run, its time and its log. */
function RunResult({ bot, run, isBusy }: { bot: Bot; run: Run | undefined; isBusy: boolean }) {
  const log = useRunLog(bot.id ?? '', run?.traceId);
  return (
    <section className="card" aria-label="Answer" aria-live="polite" aria-busy={isBusy}>
      <h2>Answer</h2>
      {!run && <p className="muted">{isBusy ? 'Running…' : 'Nothing has run yet.'}</p>}
      {run && (
        <>
          <div className="row-side">
            <Badge kind={run.isGood ? 'good' : 'bad'}>{run.status}</Badge>
            <Badge>{milliseconds.format(run.durationMs)}</Badge>
            <span className="row-more">{run.contentType}</span>
          </div>
          <Output label="Body of the answer">
            <TextWithPlaces text={run.body === '' ? '(empty)' : run.body} />
          </Output>
          <h2>Log</h2>
          <LogView log={log} />
        </>
      )}
    </section>
  );
}

type Naming = 'id' | 'identifier';

/** A line for a shell and one for a program that execute the Bot. */
function ReadyCalls({ bot, type }: { bot: Bot; type: InputType }) {
  const identifier = bot.identifier?.[0];
  const [naming, setNaming] = useState<Naming>('id');
  const names = [
    { value: 'id', label: 'By its id' },
    ...(identifier ? ([{ value: 'identifier', label: 'By its identifier' }] as const) : []),
  ] as const;
  const token = identifier?.system ? `${identifier.system}|${identifier.value}` : (identifier?.value ?? '');
  const path =
    naming === 'id' ? `Bot/${bot.id}/$execute` : `Bot/$execute?identifier=${encodeURIComponent(token)}`;
  const curl = [
    `curl -s '${baseUrl}/fhir/R4/${path}' \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    `  -H 'Content-Type: ${type}' \\`,
    '  --data-binary @input',
  ].join('\n');
  const named =
    naming === 'id'
      ? `'${bot.id}'`
      : JSON.stringify({
          ...(identifier?.system ? { system: identifier.system } : {}),
          value: identifier?.value,
        });
  const line = `await medplum.executeBot(${named}, input, '${type}');`;
  return (
    <details className="calls">
      <summary>Call it from elsewhere</summary>
      <div className="stack">
        {identifier && <Select label="Named" value={naming} options={names} onChange={setNaming} />}
        <Output label="With curl" text={curl} />
        <CopyButton text={curl} label="Copy the curl line" />
        <Output label="With a client library" text={line} />
        <CopyButton text={line} label="Copy the executeBot line" />
      </div>
    </details>
  );
}

/** A message segment by segment, each field with its number, as far as the first segment tells how. */
function Segments({ text }: { text: string }) {
  const segments = text.split(/\r\n?|\n/).filter((one) => one.trim() !== '');
  const separator = /^MSH(.)/.exec(segments[0] ?? '')?.[1];
  if (separator === undefined) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="output segments" tabIndex={0} aria-label="Segments">
      <ol>
        {segments.map((segment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text
          <li key={index}>
            <Fields segment={segment} separator={separator} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Fields({ segment, separator }: { segment: string; separator: string }) {
  const [name = '', ...fields] = segment.split(separator);
  // The separator itself is the first field of a header.
  const first = name === 'MSH' ? 2 : 1;
  return (
    <>
      <strong>{name}</strong>{' '}
      {fields.map((field, index) =>
        field === '' ? null : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a field is known by its number
          <span key={index} className="segment-field">
            <span className="muted">{index + first}</span> <code>{field}</code>
          </span>
        ),
      )}
    </>
  );
}
