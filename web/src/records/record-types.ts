/** The types that a clinic looks at most; the API serves every R4 type. */
const usual = [
  'Patient',
  'Practitioner',
  'RelatedPerson',
  'Observation',
  'Condition',
  'Encounter',
  'DiagnosticReport',
  'ServiceRequest',
  'MedicationRequest',
  'AllergyIntolerance',
  'Immunization',
  'Procedure',
  'Appointment',
  'Communication',
  'DocumentReference',
  'Organization',
  'Questionnaire',
  'QuestionnaireResponse',
  'Task',
];

export const recordTypes = usual.map(asOption);

/** The usual ones first, then all others by name. */
export function typeOptions(all: readonly string[]) {
  return [...recordTypes, ...all.filter((type) => !usual.includes(type)).map(asOption)];
}

function asOption(type: string) {
  return { value: type, label: type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ') };
}
