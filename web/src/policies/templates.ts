import type { EntryInteraction } from './builder/entry.ts';

/** `execute` is missing in the types of `@medplum/fhirtypes`. */
interface TemplateEntry {
  resourceType: string;
  criteria?: string;
  readonly?: true;
  interaction?: readonly EntryInteraction[];
}

interface PolicyTemplate {
  value: string;
  label: string;
  says: string;
  resource: readonly TemplateEntry[];
}

const keeping = ['read', 'vread', 'search', 'history', 'create', 'update'] as const;

const read = (...types: string[]) =>
  types.map((resourceType): TemplateEntry => ({ resourceType, readonly: true }));
const keep = (...types: string[]) =>
  types.map((resourceType): TemplateEntry => ({ resourceType, interaction: keeping }));
const ofPatient = (...types: string[]) =>
  read(...types).map((entry) => ({ ...entry, criteria: `${entry.resourceType}?patient=%patient` }));

/** Policies to begin with, for common roles. */
export const templates = [
  {
    value: 'nurse',
    label: 'Nurse',
    says: 'Reads patients, encounters, conditions and orders; records what is observed and given. Deletes nothing.',
    resource: [
      ...read('Patient', 'RelatedPerson', 'Encounter', 'Condition', 'MedicationRequest', 'ServiceRequest'),
      ...read('CarePlan', 'DiagnosticReport', 'Practitioner', 'Location', 'Organization'),
      ...keep('Observation', 'AllergyIntolerance', 'MedicationAdministration', 'Procedure', 'Immunization'),
      ...keep('Task', 'Communication'),
    ],
  },
  {
    value: 'physician',
    label: 'Physician',
    says: 'Reads, creates and changes clinical records of every type, and runs Bots. Deletes nothing.',
    resource: [...keep('*'), { resourceType: 'Bot', interaction: ['execute'] }],
  },
  {
    value: 'front-desk',
    label: 'Front desk',
    says: 'Keeps patients, appointments and insurance up to date. Sees no clinical record.',
    resource: [
      ...keep('Patient', 'RelatedPerson', 'Appointment', 'Coverage'),
      ...read('Schedule', 'Slot', 'Practitioner', 'PractitionerRole', 'Location', 'Organization'),
    ],
  },
  {
    value: 'patient',
    label: 'Patient',
    says: 'Reads their own record and what was found and prescribed, or that of the patients they are related to. Changes nothing.',
    resource: [
      { resourceType: 'Patient', readonly: true, criteria: 'Patient?_id=%patient.id' },
      ...ofPatient('AllergyIntolerance', 'Condition', 'DiagnosticReport', 'Encounter'),
      ...ofPatient('Immunization', 'MedicationRequest', 'Observation', 'Procedure', 'Appointment'),
    ],
  },
  {
    value: 'bot',
    label: 'Bot that files results',
    says: 'Finds patients and orders; creates and changes observations and reports. Deletes nothing.',
    resource: [
      ...read('Patient', 'ServiceRequest', 'Practitioner', 'Organization'),
      ...keep('Observation', 'DiagnosticReport', 'Specimen'),
    ],
  },
  {
    value: 'integration',
    label: 'Integration that sends messages to Bots',
    says: 'Runs Bots. Reads and writes no record: what a message may change is up to the rights of the Bot.',
    resource: [{ resourceType: 'Bot', interaction: ['execute'] }],
  },
  {
    value: 'read',
    label: 'Read everything clinical',
    says: 'Reads clinical records of every type. Changes nothing, and runs no Bots.',
    resource: read('*'),
  },
] as const satisfies readonly PolicyTemplate[];

export type TemplateName = (typeof templates)[number]['value'];
