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
  /** What it is for, and what it leaves out. */
  says: string;
  resource: readonly TemplateEntry[];
}

const keeping = ['read', 'vread', 'search', 'history', 'create', 'update'] as const;

const read = (resourceType: string): TemplateEntry => ({ resourceType, readonly: true });
const keep = (resourceType: string): TemplateEntry => ({ resourceType, interaction: keeping });
const ownOf = (resourceType: string, parameter: string): TemplateEntry => ({
  ...read(resourceType),
  criteria: `${resourceType}?${parameter}=%patient`,
});

/** Policies to begin with, for common roles. */
export const templates = [
  {
    value: 'nurse',
    label: 'Nurse',
    says: 'Reads patients, encounters, conditions and orders; records what is observed and given. Deletes nothing.',
    resource: [
      ...['Patient', 'RelatedPerson', 'Encounter', 'Condition', 'MedicationRequest', 'ServiceRequest'].map(
        read,
      ),
      ...['CarePlan', 'DiagnosticReport', 'Practitioner', 'Location', 'Organization'].map(read),
      ...['Observation', 'AllergyIntolerance', 'MedicationAdministration', 'Procedure', 'Immunization'].map(
        keep,
      ),
      ...['Task', 'Communication'].map(keep),
    ],
  },
  {
    value: 'physician',
    label: 'Physician',
    says: 'Reads, creates and changes clinical records of every type, and runs Bots. Deletes nothing.',
    resource: [keep('*'), { resourceType: 'Bot', interaction: ['execute'] }],
  },
  {
    value: 'front-desk',
    label: 'Front desk',
    says: 'Keeps patients, appointments and insurance up to date. Sees no clinical record.',
    resource: [
      ...['Patient', 'RelatedPerson', 'Appointment', 'Coverage'].map(keep),
      ...['Schedule', 'Slot', 'Practitioner', 'PractitionerRole', 'Location', 'Organization'].map(read),
    ],
  },
  {
    value: 'patient',
    label: 'Patient',
    says: 'Reads their own record and what was found and prescribed, or that of the patients they are related to. Changes nothing.',
    resource: [
      { ...read('Patient'), criteria: 'Patient?_id=%patient.id' },
      ...['AllergyIntolerance', 'Condition', 'DiagnosticReport', 'Encounter'].map((type) =>
        ownOf(type, 'patient'),
      ),
      ...['Immunization', 'MedicationRequest', 'Observation', 'Procedure'].map((type) =>
        ownOf(type, 'patient'),
      ),
      ownOf('Appointment', 'patient'),
    ],
  },
  {
    value: 'bot',
    label: 'Bot that files results',
    says: 'Finds patients and orders; creates and changes observations and reports. Deletes nothing.',
    resource: [
      ...['Patient', 'ServiceRequest', 'Practitioner', 'Organization'].map(read),
      ...['Observation', 'DiagnosticReport', 'Specimen'].map(keep),
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
    resource: [read('*')],
  },
] as const satisfies readonly PolicyTemplate[];

export type TemplateName = (typeof templates)[number]['value'];
