import type { AccessPolicy, AccessPolicyResource } from '@medplum/fhirtypes';
import { useEffect, useRef, useState } from 'react';
import { OperationOutcomeError } from '../../../client/src/index.ts';
import { useApi } from '../api/use-api.ts';
import { Drafted, type DraftState } from '../drafts/use-draft.tsx';
import { CodeEditor, parseTyped } from '../editor/code-editor.tsx';
import type { MountedEditor } from '../editor/mount-editor.ts';
import { Button, Card, Notice, Sentences } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { entriesIn, type WrittenEntry } from './builder/entry.ts';
import { EntryFields, type Knowledge, useKnowledge } from './builder/entry-fields.tsx';

interface Props {
  policy: AccessPolicy;
  onSaved(policy: AccessPolicy): void;
  /** What was typed, and whether its entries are other than those it began with. */
  onWritten?(typed: PolicyText & { isChanged: boolean }): void;
}

interface PolicyText {
  name: string;
  text: string;
}

/** Under which what is written of a policy is kept, until it is saved. */
export const draftNameOf = ({ id = 'new' }: Pick<AccessPolicy, 'id'>) => `AccessPolicy/${id}`;

/** A policy, or what was typed of it and not saved. */
export function PolicyForm(props: Props) {
  const { name = '', resource = [], id } = props.policy;
  const savedNow = { name, text: JSON.stringify(resource, undefined, 2) };
  return (
    <Drafted name={draftNameOf(props.policy)} savedNow={savedNow} isNew={id === undefined}>
      {(draft) => <PolicyFields draft={draft} {...props} />}
    </Drafted>
  );
}

/** A policy's name and its entries, in a builder and as JSON. What the service finds wrong is told with the entry it stands in. */
function PolicyFields({ policy, draft, onSaved, onWritten }: Props & { draft: DraftState<PolicyText> }) {
  const [begin] = useState(draft.begin);
  const { found } = draft;
  useEffect(() => {
    if (found) onWritten?.({ ...found.value, isChanged: true });
  }, [onWritten, found]);
  const { send } = useApi();
  const editor = useRef<MountedEditor>(undefined);
  const [version, setVersion] = useState(policy.meta?.versionId);
  const onTyping = (next: PolicyText) => {
    draft.keep(next);
    onWritten?.({ ...next, isChanged: next.text !== begin.text });
  };
  const act = async (typed: PolicyText) => {
    const { resource: _, ...others } = policy;
    const resource = parseEntries(typed.text);
    // Nothing empty is stored: without entries it grants nothing.
    const body = { ...others, name: typed.name, ...(resource.length > 0 ? { resource } : {}) };
    const saved = await (policy.id
      ? send<AccessPolicy>('PUT', `fhir/R4/AccessPolicy/${policy.id}`, body, version)
      : send<AccessPolicy>('POST', 'fhir/R4/AccessPolicy', body)
    ).catch(located);
    draft.saved(typed);
    setVersion(saved.meta?.versionId);
    onSaved(saved);
  };
  const save = useForm(begin, act, { onTyping });
  const { text } = save.values;
  return (
    <Card label="Policy">
      <Form
        label="Policy"
        action={save}
        submit="Save"
        saved="Saved. It applies from each member’s next request."
      >
        <TextField label="Name" {...save.field('name')} isRequired />
        <div className="policy-bench">
          <div className="stack">
            <h2>What it grants</h2>
            <PolicyBuilder
              text={text}
              onChange={(next) => {
                save.change({ text: next });
                editor.current?.replace(next);
              }}
            />
          </div>
          <div className="field">
            <span className="legend">The same as JSON</span>
            <CodeEditor
              text={text}
              language="json"
              label="Entries of the policy, as JSON"
              handle={editor}
              onChange={(next) => save.change({ text: next })}
            />
            <p className="help">
              A list of entries: resourceType, criteria, interaction, readonly, hiddenFields, readonlyFields.
              What no entry grants is refused.
            </p>
          </div>
        </div>
      </Form>
    </Card>
  );
}

/** Says where in the JSON an issue is, which its text leaves out. */
function located(error: unknown): never {
  if (error instanceof OperationOutcomeError) {
    if (error.status === 412)
      throw new Error('Somebody else has changed this policy. Reload the page and try again.');
    for (const issue of error.outcome.issue) {
      const where = /\bresource\[.*/.exec(issue.expression?.[0] ?? '')?.[0];
      if (where) issue.details = { text: `${where}: ${issue.details?.text ?? issue.code}` };
    }
  }
  throw error;
}

/** The JSON of the editor. @throws {Error} with what is wrong and where */
function parseEntries(text: string): AccessPolicyResource[] {
  const value: unknown = parseTyped(text);
  if (!Array.isArray(value)) throw new Error('The policy must be a list of entries: [ … ].');
  for (const [index, entry] of value.entries()) {
    if (typeof entry?.resourceType !== 'string') throw new Error(`Entry ${index + 1} has no resourceType.`);
  }
  return value;
}

interface PolicyBuilderProps {
  /** The entries as JSON, as they stand in the editor beside. */
  text: string;
  onChange(text: string): void;
}

/**
 * The entries of a policy as sentences that open into fields, and what is probably not meant. It writes the JSON
 * and is drawn from it: both are always the same.
 */
function PolicyBuilder({ text, onChange }: PolicyBuilderProps) {
  const knowledge = useKnowledge();
  const added = useRef<number>(undefined);
  const entries = entriesIn(text);
  const { keys, remove } = useEntryKeys(entries?.length ?? 0);
  if (!entries)
    return <Notice kind="plain">The builder is back as soon as the JSON is a list of entries again.</Notice>;
  const write = (next: readonly WrittenEntry[]) => onChange(JSON.stringify(next, undefined, 2));
  const policy = { resource: entries };
  const words = knowledge?.policyWords(policy, { isAdministrator: false });
  const warnings = knowledge?.policyWarnings(policy, hasElementOf(knowledge)) ?? [];
  return (
    <section className="stack" aria-label="Builder">
      <ol className="policy-entries">
        {entries.map((entry, index) => (
          <EntryFields
            key={keys[index]}
            number={index + 1}
            entry={entry}
            sentence={words?.[index]?.text ?? entry.resourceType}
            isNew={added.current === index}
            knowledge={knowledge}
            onChange={(next) => write(entries.with(index, next))}
            onRemove={() => {
              added.current = undefined;
              remove(index);
              write(entries.toSpliced(index, 1));
            }}
          />
        ))}
      </ol>
      <p className="muted">{entries.length === 0 ? 'It grants nothing.' : 'Nothing else.'}</p>
      <Button
        onPress={() => {
          added.current = entries.length;
          write([...entries, { resourceType: 'Patient', readonly: true }]);
        }}
      >
        Add an entry
      </Button>
      <div role="status" className="policy-warnings">
        {warnings.length > 0 && (
          <div className="notice">
            <p className="legend">Is this meant?</p>
            <Sentences of={warnings} />
          </div>
        )}
      </div>
    </section>
  );
}

function hasElementOf({ structures, hasElementIn }: Knowledge) {
  return structures && ((type: string, path: string) => hasElementIn(structures, type, path));
}

/**
 * A key for each of some entries that have no name, which stays with its entry when one above it is removed: what is
 * open or half typed in it does not pass to the next. Where the list was changed otherwise, an entry is its place.
 * @param count of entries as they are drawn now
 */
function useEntryKeys(count: number): { keys: readonly number[]; remove(index: number): void } {
  const state = useRef({ keys: [] as number[], next: 0 });
  const { current } = state;
  while (current.keys.length < count) current.keys.push(current.next++);
  current.keys.length = count;
  return {
    keys: current.keys,
    remove: (index) => {
      current.keys = current.keys.toSpliced(index, 1);
    },
  };
}
