import { useMemo } from 'react';
import { bulkColumn, mostBulkRows } from '../../../shared/invitation/bulk-columns.ts';
import { useKept } from '../drafts/use-kept.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Link } from '../ui/link.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { TextField } from '../ui/text-field.tsx';
import { BulkResult } from './bulk-result.tsx';
import { checkTable, resolvedTable } from './check-table.ts';
import { FileField } from './file-field.tsx';
import { Preview } from './preview.tsx';
import { readTable } from './read-table.ts';
import { TemplateLink } from './template-link.tsx';
import { useBulkInvite } from './use-bulk-invite.ts';
import { usePolicies } from './use-policies.ts';

/** People from a spreadsheet: checked and shown before anything is sent, and each row's result afterwards. */
export function BulkPage() {
  const [text, setText] = useKept('bulk', '');
  const table = useMemo(() => readTable(text), [text]);
  const policies = usePolicies(table.header.some((cell) => bulkColumn(cell) === 'accessPolicy'));
  const invite = useBulkInvite();
  const findings = checkTable(table, policies.value ?? []);
  const isReady = policies.state === 'ready' && findings.file.length === 0;
  const open = invite.openRows(table);
  const sendable = isReady ? open.filter((row) => !findings.rows.has(row)) : [];
  const isOpen = new Set(open);
  const invited = table.rows.filter((_row, at) => !isOpen.has(at) && !findings.rows.has(at)).length;
  const change = (next: string) => {
    setText(next);
    invite.clear();
  };
  const send = () => void invite.run({ table: resolvedTable(table, policies.value ?? []), rows: sendable });
  return (
    <Page title="Invite many">
      <section className="card" aria-label="From a file">
        <Form label="Invite many" onSubmit={send}>
          <p>
            A CSV file with a header, at most {mostBulkRows} rows. It needs the columns{' '}
            <code>resourceType</code>, <code>firstName</code>, <code>lastName</code> and <code>email</code>,
            and may have <code>accessPolicy</code> (its name), <code>admin</code>, <code>sendEmail</code>,{' '}
            <code>patient</code>, <code>relationship</code> and <code>mfaRequired</code>.
          </p>
          <div>
            <TemplateLink />
          </div>
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
          {findings.file.length > 0 && (
            <Notice kind="bad">
              <ul>
                {findings.file.map((problem) => (
                  <li key={problem}>{problem}</li>
                ))}
              </ul>
            </Notice>
          )}
          {findings.file.length === 0 && findings.rows.size > 0 && (
            <Notice kind="plain">
              Rows with a mistake are not sent. Correct {findings.rows.size === 1 ? 'it' : 'them'} above, or
              send the others first.
            </Notice>
          )}
          {invited > 0 && (
            <Notice kind="plain">
              {people(invited)} from these rows {invited === 1 ? 'is' : 'are'} invited already and left out: a
              second mail would make the link in the first one useless.
            </Notice>
          )}
          <Failure message={policies.state === 'failed' ? policies.message : invite.message} />
          <div>
            <Button type="submit" kind="primary" isPending={invite.isBusy} isDisabled={sendable.length === 0}>
              Invite {people(sendable.length)}
            </Button>
          </div>
        </Form>
      </section>
      {invite.last && (
        <BulkResult
          sent={invite.last}
          retry={sendable.length > 0 ? send : undefined}
          isBusy={invite.isBusy}
        />
      )}
      {!invite.last && <Preview table={table} findings={findings} />}
      <p>
        <Link href="/invite">Invite one person</Link>
      </p>
    </Page>
  );
}

function people(count: number): string {
  return count === 1 ? '1 person' : `${count} people`;
}
