import type { Bot } from '@medplum/fhirtypes';
import { useState } from 'react';
import { typedEntries } from '../../../shared/typed-keys.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { createSubscription, moments, type When } from './subscription.ts';
import { type Tried, tryCriteria } from './try-criteria.ts';

const whens = typedEntries(moments).map(([value, label]) => ({ value, label }));

/** A new Subscription: what it would have matched is said before it is saved. */
export function NewSubscription({ bot, onCreated }: { bot: Bot; onCreated(): void }) {
  const api = useApi();
  const [criteria, setCriteria] = useState('');
  const [when, setWhen] = useState<When>('');
  const [expression, setExpression] = useState('');
  const [reason, setReason] = useState(`Wakes ${bot.name ?? 'a Bot'}`);
  const [tried, setTried] = useState<Tried & { criteria: string }>();
  const isTried = tried !== undefined && tried.criteria === criteria;
  const attempt = useAction(async () => {
    setTried(undefined);
    setTried({ ...(await tryCriteria(api, criteria)), criteria });
  });
  const save = useAction(async () => {
    await createSubscription(api, bot, { criteria: criteria.trim(), when, expression, reason });
    onCreated();
  }, ['criteria', 'reason', 'extension']);
  return (
    <Form
      label="New Subscription"
      fieldErrors={save.fieldErrors}
      onSubmit={() => (isTried ? save.run() : attempt.run())}
    >
      <TextField
        label="Records"
        name="criteria"
        help="A search of one type, as Observation?code=1234-5&status=final, or the type alone."
        isCode
        spellCheck="false"
        autoComplete="off"
        value={criteria}
        onChange={setCriteria}
        isRequired
      />
      <div className="form-pair">
        <Select label="When one is" value={when} options={whens} onChange={setWhen} />
        <TextField label="Reason" name="reason" value={reason} onChange={setReason} isRequired />
      </div>
      <TextField
        label="And only if (FHIRPath)"
        name="extension"
        help="Optional. %previous is the record before the change, %current the record after it."
        isCode
        spellCheck="false"
        autoComplete="off"
        value={expression}
        onChange={setExpression}
      />
      <Failure message={attempt.message ?? save.message} />
      {isTried && <TriedText tried={tried} hasExpression={expression !== ''} />}
      <div className="buttons">
        <Button type="submit" kind="primary" isPending={attempt.isBusy || save.isBusy}>
          {isTried ? 'Save the Subscription' : 'Try it on existing records'}
        </Button>
      </div>
    </Form>
  );
}

function TriedText({ tried, hasExpression }: { tried: Tried; hasExpression: boolean }) {
  const { type, checked, matched } = tried;
  const sentence =
    checked === 0
      ? `There is no ${type} yet, so nothing could be tried.`
      : `It would have matched ${matched} of the last ${checked} records of type ${type}.`;
  return (
    <Notice kind="good">
      <p>
        {sentence} {hasExpression && 'The FHIRPath was not tried: it looks at changes, not at records. '}
        Once saved, it takes effect after about ten seconds.
      </p>
    </Notice>
  );
}
