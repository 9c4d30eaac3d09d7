import type { AccessPolicy, Bundle, ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import type { OperationOutcome } from '../../../client/src/index.ts';
import { profileTypes } from '../../../shared/base/resource.ts';
import {
  type BulkColumn,
  bulkColumn,
  mostBulkRows,
} from '../../../shared/identity/invitations/bulk-columns.ts';
import { normalise, resourcesIn } from '../api/fhir.ts';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { csvOf } from '../ui/download.ts';

/** What is wrong with a file, before anything of it is sent. */
export type Findings = ReturnType<typeof checkTable>;

/** A policy of the Project. */
export interface PolicyChoice {
  name: string;
  reference: string;
}

/** Looks for what the service would refuse, or would not refuse though it is a mistake. */
export function checkTable({ header, rows }: CsvTable, policies: readonly PolicyChoice[]) {
  const found = { file: [] as string[], rows: new Map<number, string[]>() };
  if (header.length === 0) return found;
  const names = header.map(bulkColumn);
  header.forEach((cell, at) => {
    const name = names[at];
    if (!name) found.file.push(`There is no column “${cell}”.`);
    else if (names.indexOf(name) < at) found.file.push(`The column “${name}” appears twice.`);
  });
  for (const needed of ['resourceType', 'firstName', 'lastName'] as const)
    if (!names.includes(needed)) found.file.push(`The column “${needed}” is missing.`);
  if (rows.length > mostBulkRows)
    found.file.push(`The file has ${rows.length} rows. At most ${mostBulkRows} can be sent at once.`);

  const firstOf = new Map<string, number>();
  rows.forEach((cells, row) => {
    const problems: string[] = [];
    const cell = (name: BulkColumn) => cells[names.indexOf(name)]?.trim() ?? '';
    if (cells.length !== header.length)
      problems.push(`${cells.length} cells, but the header has ${header.length}.`);
    for (const needed of ['firstName', 'lastName'] as const)
      if (!cell(needed)) problems.push(`${needed} is empty.`);
    const type = cell('resourceType');
    if (!profileTypes.some((one) => one === type))
      problems.push(`“${type}” is not a resourceType: use ${profileTypes.join(', ')}.`);
    const email = cell('email');
    if (email && !isAddress(email)) problems.push(`“${email}” is not an e-mail address.`);
    if (!email && !cell('externalId')) problems.push('There is no e-mail address.');
    const person = email.toLowerCase();
    const first = firstOf.get(person);
    if (person && first !== undefined) problems.push(`Row ${first + 1} has the same e-mail address.`);
    else if (person) firstOf.set(person, row);
    const policy = cell('accessPolicy');
    const called = policiesCalled(policy, policies).length;
    if (policy && called === 0) problems.push(`There is no access policy “${policy}”.`);
    if (policy && called > 1)
      problems.push(`Several access policies are named “${policy}”: use the reference of one.`);
    if (problems.length > 0) found.rows.set(row, problems);
  });
  return found;
}

/** The table as the service reads it: policies by their reference. */
export function resolvedTable({ header, rows }: CsvTable, policies: readonly PolicyChoice[]): CsvTable {
  const at = header.findIndex((cell) => bulkColumn(cell) === 'accessPolicy');
  const resolve = (cell: string, column: number) => {
    const [called, ...others] = column === at && cell.trim() ? policiesCalled(cell.trim(), policies) : [];
    return called && others.length === 0 ? called.reference : cell;
  };
  return { header, rows: rows.map((cells) => cells.map(resolve)) };
}

/** The policies that a file may mean: that of the reference, or those of the name. */
function policiesCalled(text: string, policies: readonly PolicyChoice[]): PolicyChoice[] {
  const referred = policies.filter(({ reference }) => reference === text);
  return referred.length > 0 ? referred : policies.filter(({ name }) => normalise(name) === normalise(text));
}

/** As far as a person would see it; the service decides. */
function isAddress(text: string): boolean {
  return /^[^\s@()<>[\]:;,\\"]+@[^\s@()<>[\]:;,\\"]+\.[^\s@.\d]{2,}$/u.test(text);
}

export type CsvTable = ReturnType<typeof readTable>;

/**
 * CSV for the eye (RFC 4180; commas or semicolons): what is invited is decided by the service, which reads
 * the same text again and says what is wrong with it. Empty rows are left out, as there.
 */
export function readTable(text: string) {
  const separator = text.split(/[\r\n]/, 1)[0]?.includes(',') ? ',' : ';';
  const records: string[][] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endCell = () => {
    cells.push(cell);
    cell = '';
  };
  const endRecord = () => {
    endCell();
    if (cells.some((one) => one.trim() !== '')) records.push(cells);
    cells = [];
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (isQuoted && character === '"' && text[at + 1] === '"') cell += text[++at];
    else if (character === '"' && (isQuoted || cell === '')) isQuoted = !isQuoted;
    else if (isQuoted) cell += character;
    else if (character === separator) endCell();
    else if (character === '\n') endRecord();
    else if (character !== '\r') cell += character;
  }
  endRecord();
  const [header = [], ...rows] = records;
  return { header: header.map((name) => name.replace('\uFEFF', '').trim()), rows };
}

/** What `invite/bulk` answers: each row with the status that it would have had alone. */
interface BulkAnswer {
  invited: number;
  refused: number;
  results: { row: number; status: number; membership?: ProjectMembership; outcome?: OperationOutcome }[];
}

/** An answer, and the rows that it is about: its row 1 is the first of `sent`. */
export interface Sent {
  answer: BulkAnswer;
  table: CsvTable;
  sent: number[];
}

/**
 * Sends rows of a file. Who was invited from this page is not sent again: that would be a second mail, whose
 * link kills the first one.
 */
export function useBulkInvite() {
  const api = useApi();
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<Sent>();
  const action = useAction(async ({ table, rows }: { table: CsvTable; rows: number[] }) => {
    setLast(undefined);
    const answered = await api.fetch(`${api.admin}/invite/bulk`, {
      method: 'POST',
      body: csvOf([table.header, ...rows.flatMap((row) => [table.rows[row] ?? []])]),
      contentType: 'text/csv; charset=utf-8',
    });
    const answer = (await answered.json()) as BulkAnswer;
    const invited = answer.results.flatMap(({ row, status }) => {
      const person = personIn(table, rows[row - 1] ?? -1);
      return status === 200 && person ? [person] : [];
    });
    setDone((before) => new Set([...before, ...invited]));
    setLast({ answer, table, sent: rows });
  });
  const openRows = (table: CsvTable): number[] =>
    table.rows.flatMap((_cells, row) => (done.has(personIn(table, row)) ? [] : [row]));
  const clear = () => {
    setLast(undefined);
    action.clear();
  };
  return { ...action, last, openRows, clear };
}

/** Who a row is about, in one spelling; empty when it does not say. */
function personIn({ header, rows }: CsvTable, row: number): string {
  const cell = (name: string) =>
    rows[row]?.[header.findIndex((one) => bulkColumn(one) === name)]?.trim() ?? '';
  const type = cell('resourceType');
  const person = cell('email').normalize('NFC').toLowerCase() || cell('externalId');
  return person && `${type} ${person}`;
}

/** The policies of the Project, by which a file may name them; none before it is wanted. */
export function usePolicies(isWanted: boolean) {
  const api = useApi();
  return useLoad(String(isWanted), async (signal): Promise<PolicyChoice[]> => {
    if (!isWanted) return [];
    const path = 'fhir/R4/AccessPolicy?_count=1000&_elements=name';
    const found = resourcesIn(await api.get<Bundle<AccessPolicy>>(path, signal));
    return found.map(({ id, name = '' }) => ({ name, reference: `AccessPolicy/${id}` }));
  });
}
