import { useId, useMemo, useState } from 'react';
import type { OperationOutcome } from '../../../client/src/index.ts';
import { bulkColumn, mostBulkRows } from '../../../shared/identity/invitations/bulk-columns.ts';
import { useKept } from '../drafts/use-draft.tsx';
import { invitationOf, outcomeSentence } from '../members/invitation.ts';
import { Badge, Button, Card, counted, Link, Notice, Scrolling, Sentences } from '../ui/basics.tsx';
import { downloadCsv } from '../ui/download.ts';
import { TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Row, Rows } from '../ui/lists.tsx';
import { Page } from '../ui/page.tsx';
import {
  type CsvTable,
  checkTable,
  type Findings,
  readTable,
  resolvedTable,
  type Sent,
  useBulkInvite,
  usePolicies,
} from './bulk-invite.ts';

/** People from a spreadsheet: checked and shown before anything is sent, and each row's result afterwards. */
export function BulkPage() {
  const [text, setText] = useKept('bulk', '');
  const table = useMemo(() => readTable(text), [text]);
  const policies = usePolicies(table.header.some((cell) => bulkColumn(cell) === 'accessPolicy'));
  const invite = useBulkInvite();
  const findings = checkTable(table, policies.value ?? []);
  const isReady = !policies.isLoading && policies.message === undefined && findings.file.length === 0;
  const open = invite.openRows(table);
  const sendable = isReady ? open.filter((row) => !findings.rows.has(row)) : [];
  const isOpen = new Set(open);
  const invited = table.rows.filter((_row, at) => !isOpen.has(at) && !findings.rows.has(at)).length;
  const change = (next: string) => {
    setText(next);
    invite.clear();
  };
  const send = () => invite.run({ table: resolvedTable(table, policies.value ?? []), rows: sendable });
  return (
    <Page title="Invite many" back={{ label: 'Invite one person', href: '/invite' }}>
      <Card label="From a file">
        <Form
          label="Invite many"
          action={{ ...invite, run: send, message: policies.message ?? invite.message }}
          submit={`Invite ${people(sendable.length)}`}
          isDisabled={sendable.length === 0}
        >
          <p>
            A CSV file with a header, at most {mostBulkRows} rows. It needs the columns{' '}
            <code>resourceType</code>, <code>firstName</code>, <code>lastName</code> and <code>email</code>,
            and may have <code>accessPolicy</code> (its name), <code>admin</code>, <code>sendEmail</code>,{' '}
            <code>patient</code>, <code>relationship</code> and <code>mfaRequired</code>.
          </p>
          <Button onPress={() => downloadCsv('invitations.csv', template)}>Download a template</Button>
          <FileField onText={change} />
          <TextField label="Rows" rows={6} isCode value={text} onChange={change}>
            Or paste them here.
          </TextField>
          {findings.file.length > 0 && (
            <Notice kind="bad">
              <Sentences of={findings.file} />
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
        </Form>
      </Card>
      {invite.last ? (
        <BulkResult
          sent={invite.last}
          retry={sendable.length > 0 ? send : undefined}
          isBusy={invite.isBusy}
        />
      ) : (
        <Preview table={table} findings={findings} />
      )}
    </Page>
  );
}

const template = [
  'resourceType,firstName,lastName,email,accessPolicy,sendEmail',
  'Practitioner,Alice,Smith,alice@example.org,,true',
  'Patient,Bob,Jones,bob@example.org,,true',
  '',
].join('\r\n');

const people = (count: number) => counted(count, 'person', 'people');

interface Props {
  sent: Sent;
  retry: (() => unknown) | undefined;
  isBusy: boolean;
}

function BulkResult({ sent: { answer, table, sent }, retry, isBusy }: Props) {
  const { invited, refused, results } = answer;
  return (
    <>
      <Notice kind={refused === 0 ? 'good' : 'bad'}>
        <p>
          {invited} invited, {refused} refused.{' '}
          {refused > 0 && 'Correct the refused rows above. Only those are sent again.'}
        </p>
        {refused > 0 && retry && (
          <Button isPending={isBusy} onPress={() => void retry()}>
            Send only what was refused
          </Button>
        )}
      </Notice>
      <Rows
        label="Results"
        of={results}
        keyOf={({ row }) => String(row)}
        row={({ row, status, membership, outcome }) => {
          const at = sent[row - 1] ?? -1;
          const { display = 'member' } = membership?.profile ?? {};
          const name = membership && <Link href={`/members/${membership.id}`}>{display}</Link>;
          const done = invitationOf(membership)?.outcome;
          return (
            <Row
              title={
                <>
                  Row {at + 1}
                  {name && ': '}
                  {name}
                </>
              }
              more={
                membership
                  ? [done && outcomeSentence(membership.profile?.display ?? '', done)]
                  : [textOf(outcome), table.rows[at]?.join(', ')]
              }
              side={
                <Badge kind={status === 200 ? 'good' : 'bad'}>{status === 200 ? 'Done' : 'Refused'}</Badge>
              }
            />
          );
        }}
      />
    </>
  );
}

function textOf(outcome: OperationOutcome | undefined): string {
  const texts = outcome?.issue.map(({ details, code }) => details?.text ?? code) ?? [];
  return texts.join('; ');
}

const mostShown = 200;

function Preview({ table: { header, rows }, findings }: { table: CsvTable; findings: Findings }) {
  if (rows.length === 0) return null;
  return (
    <Scrolling label="Preview" className="card table-frame">
      <table className="table">
        <caption>Preview: nobody is invited yet</caption>
        <thead>
          <tr>
            <th scope="col">Row</th>
            {findings.rows.size > 0 && <th scope="col">Mistakes</th>}
            {header.map((name, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a file may name a column twice
              <th scope="col" key={index}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostShown).map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are known by their place in the file
            <tr key={row}>
              <th scope="row">{row + 1}</th>
              {findings.rows.size > 0 && <td className="field-error">{findings.rows.get(row)?.join(' ')}</td>}
              {header.map((_name, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <td key={index}>{cells[index]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

const longestFile = 1024 * 1024;

/** Reads a file of the person's choice; nothing of it leaves the browser yet. */
function FileField({ onText }: { onText(text: string): void }) {
  const id = useId();
  const [refusal, setRefusal] = useState('');
  const [note, setNote] = useState('');
  const read = async (file: File | undefined) => {
    if (!file) return;
    const isTooLong = file.size > longestFile;
    setRefusal(isTooLong ? 'The file is larger than 1 MiB.' : '');
    if (isTooLong) return;
    const { text, encoding } = decodeFile(new Uint8Array(await file.arrayBuffer()));
    setNote(encoding === 'UTF-8' ? '' : `Read as ${encoding}: check that accents are right.`);
    onText(text);
  };
  return (
    <div className="field">
      <label htmlFor={id}>File</label>
      <input
        id={id}
        className="input"
        type="file"
        accept=".csv,text/csv"
        aria-describedby={`${id}-note ${id}-refusal`}
        onChange={({ target }) => void read(target.files?.[0])}
      />
      <span className="help" id={`${id}-note`} role="status">
        {note}
      </span>
      <span className="field-error" id={`${id}-refusal`} role="status">
        {refusal}
      </span>
    </div>
  );
}

/**
 * The text of a file as spreadsheets write it: UTF-8, UTF-16 with its mark, or, when it is neither, Windows-1252,
 * which Latin-1 is a part of.
 */
function decodeFile(bytes: Uint8Array): { text: string; encoding: string } {
  const decoded = (label: string, encoding: string) => ({
    text: new TextDecoder(label, { fatal: label === 'utf-8' }).decode(bytes),
    encoding,
  });
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return decoded('utf-16le', 'UTF-16');
  if (first === 0xfe && second === 0xff) return decoded('utf-16be', 'UTF-16');
  try {
    return decoded('utf-8', 'UTF-8');
  } catch {
    return decoded('windows-1252', 'Latin-1 (Windows-1252)');
  }
}
