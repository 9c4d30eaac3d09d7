import type { AccessPolicy } from '@medplum/fhirtypes';
import { useState } from 'react';
import { OperationOutcomeError } from '../../../client/src/index.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { CodeEditor } from '../editor/code-editor.tsx';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';
import { parseEntries } from './parse-entries.ts';

interface Props {
  policy: AccessPolicy;
  onSaved(policy: AccessPolicy): void;
}

/** A policy's name and its entries as JSON. What the service finds wrong is told with the entry it stands in. */
export function PolicyForm({ policy, onSaved }: Props) {
  const { send } = useApi();
  const [name, setName] = useState(policy.name ?? '');
  const [begin] = useState(() => JSON.stringify(policy.resource ?? [], undefined, 2));
  const [text, setText] = useState(begin);
  const [version, setVersion] = useState(policy.meta?.versionId);
  const [isSaved, setSaved] = useState(false);
  const save = useAction(async () => {
    setSaved(false);
    const body = { ...policy, name, resource: parseEntries(text) };
    const saved = await (policy.id
      ? send<AccessPolicy>('PUT', `fhir/R4/AccessPolicy/${policy.id}`, body, { 'if-match': `W/"${version}"` })
      : send<AccessPolicy>('POST', 'fhir/R4/AccessPolicy', body)
    ).catch(located);
    setVersion(saved.meta?.versionId);
    setSaved(true);
    onSaved(saved);
  }, ['name']);
  return (
    <section className="card" aria-label="Policy">
      <Form label="Policy" fieldErrors={save.fieldErrors} onSubmit={() => save.run()}>
        <TextField label="Name" name="name" value={name} onChange={setName} isRequired autoComplete="off" />
        <div className="field">
          <span className="legend">What it grants</span>
          <CodeEditor
            text={begin}
            language="json"
            label="Entries of the policy, as JSON"
            onChange={setText}
          />
          <p className="help">
            A list of entries: resourceType, criteria, interaction, readonly, hiddenFields, readonlyFields.
            What no entry grants is refused.
          </p>
        </div>
        <Failure message={save.message} />
        {isSaved && <Notice kind="good">Saved. It holds from the next request of each member on.</Notice>}
        <div>
          <Button type="submit" kind="primary" isPending={save.isBusy}>
            Save
          </Button>
        </div>
      </Form>
    </section>
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
