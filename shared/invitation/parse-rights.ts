import {
  array,
  check,
  fallback,
  literal,
  maxLength,
  minLength,
  pipe,
  regex,
  string,
  transform,
  union,
} from 'valibot';
import type { MembershipAccess, NamedRights } from '../fhir/membership.ts';
import { referenceThat, referenceTo } from '../fhir/reference-schema.ts';
import { isIssuerUrl } from '../issuer/issuer-url.ts';
import type { RefusalIssue } from '../refusal.ts';
import { fields, optional } from '../schema/fields.ts';
import { flag, readText, whole } from '../schema/values.ts';

const mostPatients = 20;
const mostPolicies = 20;
/** Of `access` as JSON: a membership must fit an item of the table. */
const longestAccessBytes = 32 * 1024;

const parameterName = 'A parameter needs a name of letters and digits';
const parameterValue = 'A parameter needs valueString or valueReference';

const parameter = pipe(
  fields(
    {
      name: pipe(string(parameterName), regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, parameterName)),
      valueString: fallback(optional(string()), undefined),
      valueReference: fallback(optional(referenceThat(parameterValue)), undefined),
    },
    parameterName,
  ),
  check(({ valueString, valueReference }) => (valueString ?? valueReference) !== undefined, parameterValue),
  transform(({ name, valueString, valueReference }) => ({
    name,
    ...(valueString !== undefined
      ? { valueString }
      : valueReference && { valueReference: { reference: valueReference.reference } }),
  })),
);

const accessEntry = pipe(
  fields(
    {
      policy: referenceTo('AccessPolicy', 'policy'),
      parameter: optional(array(parameter, 'parameter must be an array')),
    },
    'An entry of access needs a policy',
  ),
  transform(({ policy, parameter }): MembershipAccess => ({ policy, ...(parameter ? { parameter } : {}) })),
);

const accessText = `access must be an array of at most ${mostPolicies}`;
const access = pipe(
  array(accessEntry, accessText),
  maxLength(mostPolicies, accessText),
  check(
    (entries) => Buffer.byteLength(JSON.stringify(entries)) <= longestAccessBytes,
    `access is longer than ${longestAccessBytes / 1024} KiB`,
  ),
);

const patient = referenceTo('Patient', 'patient');
const patients = whole(
  union([
    pipe(
      patient,
      transform((one) => [one]),
    ),
    pipe(array(patient), minLength(1), maxLength(mostPatients)),
  ]),
  `patient must be 1 to ${mostPatients} references such as Patient/123`,
);

const authenticationText = 'authentication must be "password" or {"issuer": "https://..."}';
const issuerUrl = readText(authenticationText, (given) =>
  isIssuerUrl(given, { onLoopback: true }) ? given : undefined,
);

/** What a membership allows. Null, where a membership is changed, takes it away; references are checked for form only. */
export const rightsEntries = {
  admin: optional(flag('admin')),
  accessPolicy: optional(referenceTo('AccessPolicy', 'accessPolicy')),
  access: optional(access),
  emergencyPolicy: optional(referenceTo('AccessPolicy', 'emergencyPolicy')),
  patient: optional(patients),
  authentication: optional(
    whole(union([literal('password'), fields({ issuer: issuerUrl })]), authenticationText),
  ),
  mfaRequired: optional(flag('mfaRequired')),
};

export const mayBeAdmin = (type: string) => type === 'Practitioner' || type === 'ClientApplication';
export const notAdmin = (type: string) => `A ${type} cannot be an administrator`;

export const mayHavePatients = (type: string) => type === 'RelatedPerson';
export const noPatients = 'Only a RelatedPerson is invited for patients';

export const mayHaveEmergencies = (type: string) => type === 'Practitioner';
export const noEmergencies = 'Only a Practitioner has an emergency policy';

/** Which of the rights somebody with a profile of this type cannot have. */
export function unfitRights(type: string, { admin, patient, emergencyPolicy }: NamedRights): RefusalIssue[] {
  return [
    ...(admin && !mayBeAdmin(type) ? [{ expression: 'admin', text: notAdmin(type) }] : []),
    ...(patient && !mayHavePatients(type) ? [{ expression: 'patient', text: noPatients }] : []),
    ...(emergencyPolicy && !mayHaveEmergencies(type)
      ? [{ expression: 'emergencyPolicy', text: noEmergencies }]
      : []),
  ];
}
