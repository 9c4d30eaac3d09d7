import { profileTypes } from '../../../shared/base/resource.ts';
import {
  type BulkColumn,
  bulkColumn,
  mostBulkRows,
} from '../../../shared/identity/invitations/bulk-columns.ts';

/** What is wrong with a file, before anything of it is sent. */
export interface Findings {
  /** With the file as a whole: nothing of it can be sent. */
  file: string[];
  /** By the number of the row, from 0. */
  rows: Map<number, string[]>;
}

/** A policy of the Project. */
export interface NamedPolicy {
  name: string;
  reference: string;
}

/** Looks for what the service would refuse, or would not refuse though it is a mistake. */
export function checkTable({ header, rows }: Table, policies: readonly NamedPolicy[]): Findings {
  const found: Findings = { file: [], rows: new Map() };
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
    if (policy && !referenceOf(policy, policies)) problems.push(problemOf(policy, policies));
    if (problems.length > 0) found.rows.set(row, problems);
  });
  return found;
}

/** The table as the service reads it: policies by their reference. */
export function resolvedTable({ header, rows }: Table, policies: readonly NamedPolicy[]): Table {
  const at = header.findIndex((cell) => bulkColumn(cell) === 'accessPolicy');
  const resolve = (cell: string, column: number) =>
    column === at && cell.trim() ? (referenceOf(cell.trim(), policies) ?? cell) : cell;
  return { header, rows: rows.map((cells) => cells.map(resolve)) };
}

/** What the file calls a policy: its reference, or its name when only one has it. */
function referenceOf(text: string, policies: readonly NamedPolicy[]): string | undefined {
  const referred = policies.find(({ reference }) => reference === text);
  const [named, ...others] = referred ? [referred] : namedAs(text, policies);
  return others.length === 0 ? named?.reference : undefined;
}

function problemOf(text: string, policies: readonly NamedPolicy[]): string {
  return namedAs(text, policies).length > 1
    ? `Several access policies are named “${text}”: use the reference of one.`
    : `There is no access policy “${text}”.`;
}

function namedAs(text: string, policies: readonly NamedPolicy[]): NamedPolicy[] {
  const folded = (name: string) => name.normalize('NFC').trim().toLowerCase();
  return policies.filter(({ name }) => folded(name) === folded(text));
}

/** As far as a person would see it; the service decides. */
function isAddress(text: string): boolean {
  return /^[^\s@()<>[\]:;,\\"]+@[^\s@()<>[\]:;,\\"]+\.[^\s@.\d]{2,}$/u.test(text);
}

export interface Table {
  header: string[];
  rows: string[][];
}

/**
 * CSV for the eye (RFC 4180; commas or semicolons): what is invited is decided by the service, which reads
 * the same text again and says what is wrong with it. Empty rows are left out, as there.
 */
export function readTable(text: string): Table {
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

/** The table as CSV (RFC 4180). @param wanted numbers of rows, from 0 */
export function writeTable({ header, rows }: Table, wanted: readonly number[]): string {
  const chosen = wanted.flatMap((row) => (rows[row] ? [rows[row]] : []));
  return [header, ...chosen].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: string): string {
  return /[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
