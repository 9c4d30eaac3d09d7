import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useKept } from '../drafts/use-kept.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Link } from '../ui/link.tsx';
import { Failure } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type BulkAnswer, BulkResult } from './bulk-result.tsx';
import { FileField } from './file-field.tsx';
import { Preview } from './preview.tsx';
import { readTable } from './read-table.ts';

/** People from a spreadsheet: shown before anything is sent, and each row's result afterwards. */
export function BulkPage() {
  const api = useApi();
  const [text, setText] = useKept('bulk', '');
  const [answer, setAnswer] = useState<BulkAnswer>();
  const table = readTable(text);
  const invite = useAction(async () => {
    const sent = await api.fetch(`${api.admin}/invite/bulk`, {
      method: 'POST',
      body: text,
      contentType: 'text/csv; charset=utf-8',
    });
    setAnswer((await sent.json()) as BulkAnswer);
  });
  const change = (next: string) => {
    setText(next);
    setAnswer(undefined);
    invite.clear();
  };
  return (
    <Page title="Invite many">
      <section className="card" aria-label="From a file">
        <Form label="Invite many" onSubmit={() => invite.run()}>
          <p>
            A CSV file with a header, at most 200 rows. Columns: <code>resourceType</code>,{' '}
            <code>firstName</code>, <code>lastName</code>, <code>email</code>, and if wanted{' '}
            <code>accessPolicy</code>, <code>admin</code>, <code>sendEmail</code>, <code>patient</code>,{' '}
            <code>mfaRequired</code>.
          </p>
          <FileField onText={change} />
          <TextField
            label="Rows"
            rows={6}
            isCode
            spellCheck="false"
            help="Or paste them here."
            value={text}
            onChange={change}
          />
          <Failure message={invite.message} />
          <div>
            <Button
              type="submit"
              kind="primary"
              isPending={invite.isBusy}
              isDisabled={table.rows.length === 0}
            >
              {table.rows.length === 1 ? 'Invite 1 person' : `Invite ${table.rows.length} people`}
            </Button>
          </div>
        </Form>
      </section>
      {answer ? <BulkResult answer={answer} table={table} /> : <Preview table={table} />}
      <p>
        <Link href="/invite">Invite one person</Link>
      </p>
    </Page>
  );
}
