/**
 * A filled-in intake questionnaire becomes a Patient, two vital signs and an allergy, in one transaction.
 * The questionnaire's own identifier names them: sending it again changes them and adds nothing.
 */

import {
  type BotEvent,
  badRequest,
  getQuestionnaireAnswers,
  type MedplumClient,
  OperationOutcomeError,
} from '@medplum/core';
import type {
  AllergyIntolerance,
  Bundle,
  BundleEntry,
  Identifier,
  Observation,
  Patient,
  QuestionnaireResponse,
} from '@medplum/fhirtypes';

const INSURANCE = 'https://insurance.example.org/card';
const INTAKES = 'https://clinic.example.org/intakes';

/** Question → what is measured: LOINC code, its text, UCUM unit. */
const VITALS = {
  weight: ['29463-7', 'Body weight', 'kg'],
  height: ['8302-2', 'Body height', 'cm'],
} as const;

export async function handler(
  medplum: MedplumClient,
  { input: response }: BotEvent<QuestionnaireResponse>,
): Promise<{ patient: string; written: string[] }> {
  const answers = getQuestionnaireAnswers(response);
  const card = required(answers['card-number']?.valueString, 'card-number');
  const form = required(response.identifier?.value, 'identifier');
  const authored = required(response.authored, 'authored');
  const subject = { reference: `urn:uuid:${crypto.randomUUID()}` };

  const patient: Patient = {
    resourceType: 'Patient',
    identifier: [{ system: INSURANCE, value: card }],
    name: [
      {
        family: required(answers['family-name']?.valueString, 'family-name'),
        given: [required(answers['given-name']?.valueString, 'given-name')],
      },
    ],
    ...(answers.birthdate?.valueDate ? { birthDate: answers.birthdate.valueDate } : {}),
  };
  const vitals = Object.entries(VITALS).flatMap(([question, [code, text, unit]]): Observation[] => {
    const value = answers[question]?.valueDecimal ?? answers[question]?.valueInteger;
    if (value === undefined) return [];
    return [
      {
        resourceType: 'Observation',
        identifier: [{ system: INTAKES, value: `${form}-${question}` }],
        status: 'final',
        code: { coding: [{ system: 'http://loinc.org', code, display: text }] },
        subject,
        effectiveDateTime: authored,
        valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code: unit },
      },
    ];
  });
  const allergy = answers.allergy?.valueString;
  const allergies: AllergyIntolerance[] = allergy
    ? [
        {
          resourceType: 'AllergyIntolerance',
          identifier: [{ system: INTAKES, value: `${form}-allergy` }],
          clinicalStatus: coded(
            'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical',
            'active',
          ),
          verificationStatus: coded(
            'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification',
            'unconfirmed',
          ),
          code: { text: allergy },
          patient: subject,
          recordedDate: authored,
        },
      ]
    : [];

  const answered: Bundle = await medplum.executeBatch({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [put(patient, subject.reference), ...[...vitals, ...allergies].map((resource) => put(resource))],
  });
  const [first = '', ...written] = (answered.entry ?? []).map((entry) => locationOf(entry));
  return { patient: first, written };
}

/** R4 conditional update: the resource with this identifier, or a new one. */
function put(
  resource: (Patient | Observation | AllergyIntolerance) & { identifier?: Identifier[] },
  fullUrl?: string,
): BundleEntry {
  const [{ system, value } = {}] = resource.identifier ?? [];
  const url = `${resource.resourceType}?identifier=${encodeURIComponent(`${system}|${value}`)}`;
  return { ...(fullUrl ? { fullUrl } : {}), resource, request: { method: 'PUT', url } };
}

/** `Patient/123` of `https://…/fhir/R4/Patient/123/_history/1`. */
function locationOf({ response }: BundleEntry): string {
  return /([A-Z]\w+\/[\w.-]+)(?:\/_history\/.*)?$/.exec(response?.location ?? '')?.[1] ?? '';
}

function coded(system: string, code: string) {
  return { coding: [{ system, code }] };
}

/** A 400 that names the question; the caller sees it as it is. */
function required(value: string | undefined, question: string): string {
  if (!value) throw new OperationOutcomeError(badRequest(`${question} is not answered`, question));
  return value;
}
