import type { ClientApplication } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { TextField } from '../ui/text-field.tsx';

interface Props {
  client: ClientApplication;
  /** An instant; undefined for never. */
  expires: string | undefined;
  onSaved(): void;
}

/** The day after which a key gets no tokens. */
export function ExpiryForm({ client, expires, onSaved }: Props) {
  const { admin, send } = useApi();
  const saved = dayOf(expires);
  const [day, setDay] = useState(saved);
  const save = useAction(async () => {
    const next = day === '' ? null : new Date(`${day}T23:59:59`).toISOString();
    await send('POST', `${admin}/client/${client.id}`, { expires: next });
    onSaved();
  }, ['expires']);
  return (
    <Form label="Expiry" fieldErrors={save.fieldErrors} onSubmit={() => save.run()}>
      <TextField
        label="Last day"
        name="expires"
        type="date"
        help="After it the key gets no tokens. Leave it empty for a key that does not expire."
        value={day}
        onChange={setDay}
      />
      <Failure message={save.message} />
      <div>
        <Button type="submit" isDisabled={day === saved} isPending={save.isBusy}>
          Save the last day
        </Button>
      </div>
    </Form>
  );
}

/** Where the reader is. */
function dayOf(instant: string | undefined): string {
  if (instant === undefined) return '';
  const date = new Date(instant);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}
