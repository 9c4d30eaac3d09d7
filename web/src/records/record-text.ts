import type { HumanName, Resource } from '@medplum/fhirtypes';
import { fieldsOf, recordOf } from '../../../shared/base/values.ts';

const subject = { subject: 'Subject' };
const patient = { patient: 'Patient' };
const status = { status: 'Status' };

/**
 * The types that a clinic looks at most, each with what its table shows beside what a record is called: the title of a
 * column by its element, `[x]` for one of any type.
 */
const columns: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Patient: { birthDate: 'Birth date', gender: 'Gender', identifier: 'Identifier' },
  Practitioner: { identifier: 'Identifier', telecom: 'Contact' },
  RelatedPerson: { ...patient, relationship: 'Relationship' },
  Observation: { 'value[x]': 'Value', 'effective[x]': 'When', ...subject, ...status },
  Condition: { clinicalStatus: 'Clinical status', 'onset[x]': 'Onset', ...subject },
  Encounter: { class: 'Class', period: 'Period', ...subject, ...status },
  DiagnosticReport: { 'effective[x]': 'When', ...subject, ...status },
  ServiceRequest: { authoredOn: 'Written', ...subject, ...status },
  MedicationRequest: { 'medication[x]': 'Medication', authoredOn: 'Written', ...subject, ...status },
  AllergyIntolerance: { criticality: 'Criticality', clinicalStatus: 'Clinical status', ...patient },
  Immunization: { vaccineCode: 'Vaccine', 'occurrence[x]': 'When', ...patient, ...status },
  Procedure: { 'performed[x]': 'When', ...subject, ...status },
  Appointment: { description: 'Description', start: 'Start', ...status },
  Communication: { sent: 'Sent', ...subject, ...status },
  DocumentReference: { type: 'Type', date: 'Date', ...subject, ...status },
  Organization: { identifier: 'Identifier', address: 'Address' },
  Questionnaire: { date: 'Date', ...status },
  QuestionnaireResponse: { questionnaire: 'Questionnaire', authored: 'Written', ...subject, ...status },
  Task: { description: 'Description', for: 'For', owner: 'Owner', ...status },
};

/** Types in words. */
export const typeWords = (types: readonly string[]) =>
  recordOf(types, (type) => type.replace(/(?<=[a-z])(?=[A-Z])/g, ' '));

export const recordTypes = typeWords(Object.keys(columns));

/** The columns of a table of records of that type: element and title. */
export function columnsOf(type: string): readonly (readonly [element: string, title: string])[] {
  return Object.entries(columns[type] ?? status);
}

/** The value of an element; of `value[x]` whichever the record has. */
export function elementOf(resource: Resource, element: string): unknown {
  const fields = fieldsOf(resource);
  if (!element.endsWith('[x]')) return fields[element];
  const beginning = element.slice(0, -3);
  const name = Object.keys(fields).find(
    (one) => one.startsWith(beginning) && /^[A-Z]/.test(one.slice(beginning.length)),
  );
  return name === undefined ? undefined : fields[name];
}

/**
 * A value of a FHIR data type in a line, as people write it: a name, a coded concept, a quantity, a period.
 * @returns undefined for what is no such value: its fields are shown one by one
 */
export function formatValue(value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return dateIn(value) ?? value;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) {
    const texts = value.map(formatValue);
    return texts.every((text) => text !== undefined) ? texts.join(', ') : undefined;
  }
  const fields = fieldsOf(value);
  const shape = shapes.find(({ has, only }) => has.some((name) => name in fields) && isOnly(fields, only));
  return shape?.text(fields);
}

interface Shape {
  /** One of these it has … */
  has: readonly string[];
  /** … and nothing beside these. */
  only: readonly string[];
  text(fields: Record<string, unknown>): string;
}

const common = ['id', 'extension', 'use'];

const shapes: readonly Shape[] = [
  {
    has: ['family', 'given'],
    only: ['text', 'family', 'given', 'prefix', 'suffix', 'period'],
    text: ({ text, prefix, given, family, suffix }) =>
      String(text ?? joined(' ', prefix, given, family, suffix)),
  },
  {
    has: ['coding'],
    only: ['coding', 'text'],
    text: ({ text, coding }) => String(text ?? formatValue(coding)),
  },
  { has: ['coding', 'text'], only: ['text'], text: ({ text }) => String(text) },
  {
    has: ['code', 'display'],
    only: ['system', 'version', 'code', 'display', 'userSelected'],
    text: ({ display, code }) => String(display ?? code),
  },
  {
    has: ['start', 'end'],
    only: ['start', 'end'],
    text: ({ start, end }) => `${formatValue(start) || '…'} to ${formatValue(end) || '…'}`,
  },
  {
    has: ['line', 'city', 'country', 'postalCode'],
    only: ['type', 'text', 'line', 'city', 'district', 'state', 'postalCode', 'country', 'period'],
    text: ({ text, line, postalCode, city, state, country }) =>
      String(text ?? joined(', ', line, joined(' ', postalCode, city), state, country)),
  },
  {
    has: ['value'],
    only: ['value', 'comparator', 'unit', 'system', 'code', 'rank', 'type', 'period', 'assigner'],
    text: ({ comparator, value, unit, code, system }) =>
      typeof value === 'number'
        ? joined(' ', comparator, value, unit ?? code)
        : joined(' ', value, system === undefined ? undefined : `(${system})`),
  },
];

function isOnly(fields: Record<string, unknown>, only: readonly string[]): boolean {
  return Object.keys(fields).every((name) => only.includes(name) || common.includes(name));
}

function joined(separator: string, ...parts: readonly unknown[]): string {
  return parts
    .flat()
    .filter((part) => part !== undefined && part !== '')
    .join(separator);
}

const instants = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

function dateIn(text: string): string | undefined {
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  return isInstant && !Number.isNaN(Date.parse(text)) ? instants.format(new Date(text)) : undefined;
}

/** A record as JSON to be read or written by a person, without what the service stamps on each version. */
export function textOf(resource: Resource): string {
  const { meta, ...fields } = resource as Resource & { meta?: Record<string, unknown> };
  const { versionId: _version, lastUpdated: _at, author: _author, project: _project, ...own } = meta ?? {};
  const shown = Object.keys(own).length > 0 ? { ...fields, meta: own } : fields;
  return JSON.stringify(shown, undefined, 2);
}

/** What people call a resource: its name or title, else its type and id. */
export function nameOf(resource: Resource): string {
  const { name, title, code } = resource as {
    name?: string | HumanName[];
    title?: string;
    code?: { text?: string; coding?: { display?: string; code?: string }[] };
  };
  if (typeof name === 'string' && name) return name;
  const [human] = Array.isArray(name) ? name : [];
  const person = human?.text ?? [...(human?.given ?? []), human?.family].filter(Boolean).join(' ');
  const coded = code?.text ?? code?.coding?.[0]?.display ?? code?.coding?.[0]?.code;
  return person || title || coded || `${resource.resourceType}/${resource.id}`;
}
