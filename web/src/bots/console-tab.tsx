import type { Bot } from '@medplum/fhirtypes';
import { useRef, useState } from 'react';
import type { InputType } from '../../../shared/bots/run/contract.ts';
import { type Api, useAction, useApi, useLoad } from '../api/use-api.ts';
import { useAddress } from '../api/use-pages.ts';
import { useKept } from '../drafts/use-draft.tsx';
import { baseUrl } from '../session/session.ts';
import { ActionButton, Badge, CopyButton, Failure, Notice, Output, Scrolling } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { listExecutions } from './executions.tsx';
import { type BotRun, inputTypes, runBot, samples } from './run-bot.ts';
import { LogView, TextWithPlaces } from './run-log.tsx';

const firstInput: { input: InputType } = { input: 'text/plain' };

/** Executes the Bot as a sender would, once for each press. */
export function ConsoleTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const { values, field } = useAddress(firstInput, { input: inputTypes });
  const type = values.input;
  const [texts, setTexts] = useKept(`console ${bot.id}`, samples);
  const text = texts[type];
  const [run, setRun] = useState<BotRun>();
  const runKey = useRef('');
  const [isEnding, setEnding] = useState(false);
  const execute = useAction(async () => {
    setRun(undefined);
    setEnding(false);
    runKey.current = crypto.randomUUID();
    setRun(await runBot(api, bot.id ?? '', { type, text, runKey: runKey.current }));
  });
  const cancel = useAction(async () => {
    // How the run ended is in its own answer.
    await api.send('DELETE', `fhir/R4/run/${runKey.current}`);
    setEnding(true);
  });
  return (
    <>
      <Form
        label="Input"
        action={execute}
        submit="Run"
        beside={
          execute.isBusy && (
            <ActionButton label="Cancel" action={{ run: cancel.run, isBusy: cancel.isBusy || isEnding }} />
          )
        }
      >
        <Select label="Content type" options={inputTypes} {...field('input')}>
          {type}
        </Select>
        <TextField
          label="Input"
          rows={8}
          isCode
          value={text}
          onChange={(next) => setTexts({ ...texts, [type]: next })}
        />
        {type === 'x-application/hl7-v2+er7' && <Segments text={text} />}
      </Form>
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

function RunResult({ bot, run, isBusy }: { bot: Bot; run: BotRun | undefined; isBusy: boolean }) {
  const api = useApi();
  const { traceId } = run ?? {};
  const { value, isLoading } = useLoad(traceId ?? '', async (signal) =>
    traceId === undefined ? 'missing' : logOf(api, bot.id ?? '', traceId, signal),
  );
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
          <LogView log={isLoading || !value ? 'waiting' : value} />
        </>
      )}
    </section>
  );
}

const tries = 20;
const pauseMs = 300;

/** The log of a run, looked for until its record is there: records are listed a moment after the answer. */
async function logOf(api: Api, botId: string, traceId: string, signal: AbortSignal) {
  for (let tried = 0; tried < tries && !signal.aborted; tried++) {
    const listed = await listExecutions(api, botId, { signal, count: 5 }).catch(() => undefined);
    const found = listed?.items.find((execution) => execution.traceId === traceId);
    if (found) return found.log;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return 'missing';
}

const namings = { id: 'By its id', identifier: 'By its identifier' };

function ReadyCalls({ bot, type }: { bot: Bot; type: InputType }) {
  const { system, value } = bot.identifier?.[0] ?? {};
  const [naming, setNaming] = useState('id');
  const token = system ? `${system}|${value}` : (value ?? '');
  const isById = naming === 'id';
  const path = isById ? `Bot/${bot.id}/$execute` : `Bot/$execute?identifier=${encodeURIComponent(token)}`;
  const curl = [
    `curl -s '${baseUrl}/fhir/R4/${path}' \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    `  -H 'Content-Type: ${type}' \\`,
    '  --data-binary @input',
  ].join('\n');
  const named = isById ? `'${bot.id}'` : JSON.stringify({ ...(system ? { system } : {}), value });
  const line = `await medplum.executeBot(${named}, input, '${type}');`;
  return (
    <details className="calls">
      <summary>Call it from elsewhere</summary>
      <div className="stack">
        {value !== undefined && (
          <Select label="Named" value={naming} options={namings} onChange={setNaming} />
        )}
        <Output label="With curl">{curl}</Output>
        <CopyButton text={curl} label="Copy the curl line" />
        <Output label="With a client library">{line}</Output>
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
    <Scrolling label="Segments" className="output segments">
      <ol>
        {segments.map((segment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text
          <li key={index}>
            <Fields segment={segment} separator={separator} />
          </li>
        ))}
      </ol>
    </Scrolling>
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
