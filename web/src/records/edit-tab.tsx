import type { OperationOutcome, Resource } from '@medplum/fhirtypes';
import { useState } from 'react';
import { OperationOutcomeError, type OutcomeIssue } from '../../../client/src/index.ts';
import { textOfIssue, useAction, useApi } from '../api/use-api.ts';
import { useKept } from '../drafts/use-draft.tsx';
import { CodeEditor, parseTyped } from '../editor/code-editor.tsx';
import { ActionButton, Button, Card, Notice } from '../ui/basics.tsx';
import { DiffView } from '../ui/diff-view.tsx';
import { Form } from '../ui/form.tsx';
import { textOf } from './record-text.ts';

interface EditTabProps {
  /** `fhir/R4/Patient/<id>` */
  path: string;
  resource: Resource;
  onSaved(): void;
}

interface Typed {
  text: string;
  base: string;
}

/**
 * Changes a record as JSON. The service checks it, and refuses what somebody else has changed meanwhile; what was
 * typed stays until it is saved, in memory only, since it is health data.
 */
export function EditTab({ path, resource, onSaved }: EditTabProps) {
  const { send, get } = useApi();
  const begin: Typed = { text: textOf(resource), base: resource.meta?.versionId ?? '' };
  const [typed, setTyped] = useKept<Typed | undefined>(`record ${path}`, undefined);
  const [round, setRound] = useState(0);
  const [theirs, setTheirs] = useState<Resource>();
  const [said, setSaid] = useState<string>();
  const { text, base } = typed ?? begin;

  const check = useAction(async () => {
    setSaid(undefined);
    save.clear();
    const outcome = await send<OperationOutcome>('POST', `${path}/$validate`, parse(text, resource));
    const faults = outcome.issue.filter(({ severity }) => severity === 'error' || severity === 'fatal');
    if (faults.length > 0) throw new Error(faults.map(sentenceOf).join(' '));
    setSaid('The record is valid. Nothing is saved yet.');
  });
  const save = useAction(async () => {
    setSaid(undefined);
    check.clear();
    setTheirs(undefined);
    try {
      await send('PUT', path, parse(text, resource), base);
    } catch (error) {
      if (error instanceof OperationOutcomeError && error.status === 412) {
        setTheirs(await get<Resource>(path));
        return;
      }
      throw told(error);
    }
    setTyped(undefined);
    setSaid('Saved.');
    onSaved();
  });
  const anew = () => {
    setTyped(undefined);
    setTheirs(undefined);
    setSaid(undefined);
    check.clear();
    setRound(round + 1);
    onSaved();
  };
  return (
    <Card label="Edit">
      {typed && (
        <p className="muted">Your changes are not saved yet. They are kept while this app is open.</p>
      )}
      <Form
        label="Edit"
        action={{ ...save, message: save.message ?? check.message }}
        submit="Save"
        beside={
          <>
            <ActionButton label="Check without saving" action={check} />
            {typed && <Button onPress={anew}>Discard my changes</Button>}
          </>
        }
      >
        <div className="field">
          <span className="legend">The record, as JSON</span>
          <CodeEditor
            key={`${round} ${base}`}
            text={text}
            language="json"
            label="The record, as JSON"
            onChange={(next) => {
              setSaid(undefined);
              check.clear();
              setTyped(next === begin.text ? undefined : { text: next, base });
            }}
          />
        </div>
        {theirs && (
          <Conflict
            mine={text}
            theirs={textOf(theirs)}
            onKeep={() => {
              setTyped({ text, base: theirs.meta?.versionId ?? '' });
              setTheirs(undefined);
            }}
            onTake={anew}
          />
        )}
        {said && <Notice kind="good">{said}</Notice>}
      </Form>
    </Card>
  );
}

/** @throws {Error} when the text is no such record */
function parse(text: string, { resourceType, id }: Resource): unknown {
  const parsed = parseTyped(text);
  const { resourceType: type, id: own } = (parsed ?? {}) as Partial<Resource>;
  if (type !== resourceType || own !== id)
    throw new Error(`It must stay ${resourceType}/${id}: resourceType and id cannot be changed.`);
  return parsed;
}

function told(error: unknown): unknown {
  if (!(error instanceof OperationOutcomeError)) return error;
  if (error.status === 403)
    return new Error('Your rights do not let you make this change. What you typed is still here.');
  const texts = error.outcome.issue.filter(({ expression }) => expression?.length).map(sentenceOf);
  return texts.length > 0 ? new Error(texts.join(' ')) : error;
}

function sentenceOf(issue: Pick<OutcomeIssue, 'expression' | 'details' | 'diagnostics' | 'code'>): string {
  const text = textOfIssue(issue);
  const where = issue.expression?.[0];
  return where && !text.includes(where) ? `${where}: ${text}` : text;
}

interface ConflictProps {
  mine: string;
  theirs: string;
  onKeep(): void;
  onTake(): void;
}

/** Somebody else has saved the record meanwhile: nothing was written, and whoever types here decides. */
function Conflict({ mine, theirs, onKeep, onTake }: ConflictProps) {
  return (
    <>
      <Notice kind="bad">
        <p>
          <strong>Somebody else has changed this record since you began.</strong> Yours is not saved, and
          still stands above.
        </p>
      </Notice>
      <DiffView label="From their version to yours" before={theirs} after={mine} />
      <div className="buttons">
        <Button onPress={onKeep}>Go on with mine</Button>
        <Button onPress={onTake}>Discard mine and take theirs</Button>
      </div>
      <p className="help">
        If you go on with yours and save, it replaces theirs; theirs stays in the history.
      </p>
    </>
  );
}
