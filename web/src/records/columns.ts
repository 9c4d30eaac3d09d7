import type { Resource } from '@medplum/fhirtypes';
import { fieldsOf } from '../../../shared/fields-of.ts';

/** A column of a table of records: its title, and the element that it shows; `[x]` for one of any type. */
export type Column = readonly [title: string, element: string];

const subject: Column = ['Subject', 'subject'];
const status: Column = ['Status', 'status'];

/** Beside what a record is called. */
const columns: Readonly<Record<string, readonly Column[]>> = {
  Patient: [
    ['Birth date', 'birthDate'],
    ['Gender', 'gender'],
    ['Identifier', 'identifier'],
  ],
  Practitioner: [
    ['Identifier', 'identifier'],
    ['Contact', 'telecom'],
  ],
  RelatedPerson: [
    ['Patient', 'patient'],
    ['Relationship', 'relationship'],
  ],
  Organization: [
    ['Identifier', 'identifier'],
    ['Address', 'address'],
  ],
  Observation: [['Value', 'value[x]'], ['When', 'effective[x]'], subject, status],
  Condition: [['Clinical status', 'clinicalStatus'], ['Onset', 'onset[x]'], subject],
  Encounter: [['Class', 'class'], ['Period', 'period'], subject, status],
  DiagnosticReport: [['When', 'effective[x]'], subject, status],
  ServiceRequest: [['Written', 'authoredOn'], subject, status],
  MedicationRequest: [['Medication', 'medication[x]'], ['Written', 'authoredOn'], subject, status],
  AllergyIntolerance: [
    ['Criticality', 'criticality'],
    ['Clinical status', 'clinicalStatus'],
    ['Patient', 'patient'],
  ],
  Immunization: [['Vaccine', 'vaccineCode'], ['When', 'occurrence[x]'], ['Patient', 'patient'], status],
  Procedure: [['When', 'performed[x]'], subject, status],
  Appointment: [['Description', 'description'], ['Start', 'start'], status],
  Communication: [['Sent', 'sent'], subject, status],
  DocumentReference: [['Type', 'type'], ['Date', 'date'], subject, status],
  Questionnaire: [['Date', 'date'], status],
  QuestionnaireResponse: [['Questionnaire', 'questionnaire'], ['Written', 'authored'], subject, status],
  Task: [['Description', 'description'], ['For', 'for'], ['Owner', 'owner'], status],
};

export function columnsOf(type: string): readonly Column[] {
  return columns[type] ?? [status];
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
