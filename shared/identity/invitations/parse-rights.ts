import {
  array,
  check,
  description,
  fallback,
  type InferOutput,
  literal,
  maxLength,
  minLength,
  optional,
  pipe,
  regex,
  strictObject,
  string,
  transform,
  trim,
  union,
} from 'valibot';
import type { RefusalIssue } from '../../base/refusal.ts';
import { fields, flag, optionalField, readText, whole } from '../../base/schema.ts';
import { normalised, typedKeys } from '../../base/values.ts';
import type { MembershipAccess, NamedRights, RightName } from '../../store/fhir/membership.ts';
import { referenceThat, referenceTo } from '../../store/fhir/stored-resource.ts';
import { isIssuerUrl } from '../issuers/issuer.ts';

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
      valueString: fallback(optionalField(string()), undefined),
      valueReference: fallback(optionalField(referenceThat(parameterValue)), undefined),
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
      parameter: optionalField(array(parameter, 'parameter must be an array')),
    },
    'An entry of access needs a policy',
  ),
  transform(
    ({ policy, parameter }): MembershipAccess => ({ policy, ...(parameter?.length ? { parameter } : {}) }),
  ),
);

/** A list of nothing is none: nothing empty is stored. */
function filled<Entry>(list: Entry[]): Entry[] | undefined {
  return list.length > 0 ? list : undefined;
}

const accessText = `access must be an array of at most ${mostPolicies}`;
const access = pipe(
  array(accessEntry, accessText),
  maxLength(mostPolicies, accessText),
  check(
    (entries) => Buffer.byteLength(JSON.stringify(entries)) <= longestAccessBytes,
    `access is longer than ${longestAccessBytes / 1024} KiB`,
  ),
  transform(filled),
);

const grantText = `mayGrant must be an array of at most ${mostPolicies}`;
const mayGrant = pipe(
  array(referenceTo('AccessPolicy', 'mayGrant'), grantText),
  maxLength(mostPolicies, grantText),
  transform(filled),
  description('Policies that an administrator may give beside what their own allows'),
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
  admin: optionalField(flag('admin')),
  accessPolicy: optionalField(referenceTo('AccessPolicy', 'accessPolicy')),
  access: optionalField(access),
  emergencyPolicy: optionalField(referenceTo('AccessPolicy', 'emergencyPolicy')),
  mayGrant: optionalField(mayGrant),
  patient: optionalField(patients),
  authentication: optionalField(
    whole(union([literal('password'), fields({ issuer: issuerUrl })]), authenticationText),
  ),
  mfaRequired: optionalField(flag('mfaRequired')),
} satisfies Record<RightName, unknown>;

/** Rights that only some types of profiles have, and what is said of another. */
export const boundRights = {
  admin: {
    types: ['Practitioner', 'ClientApplication'],
    text: (type: string) => `A ${type} cannot be an administrator`,
  },
  emergencyPolicy: {
    types: ['Practitioner'],
    text: () => 'Only a Practitioner has an emergency policy',
  },
  mayGrant: {
    types: ['Practitioner', 'ClientApplication'],
    text: (type: string) => `A ${type} gives no policies: it cannot be an administrator`,
  },
  patient: {
    types: ['RelatedPerson'],
    text: () => 'Only a RelatedPerson is invited for patients',
  },
} satisfies { [Name in RightName]?: { types: readonly string[]; text(type: string): string } };

/** Whether somebody with a profile of this type may have what is given of a right, if anything is. */
export function fits(name: keyof typeof boundRights, type: string, given: unknown): boolean {
  const types: readonly string[] = boundRights[name].types;
  return !given || (Array.isArray(given) && given.length === 0) || types.includes(type);
}

/** Which of the rights somebody with a profile of this type cannot have. */
export function unfitRights(type: string, rights: NamedRights): RefusalIssue[] {
  const unfit = typedKeys(boundRights).filter((name) => !fits(name, type, rights[name]));
  return unfit.map((name) => ({ expression: name, text: boundRights[name].text(type) }));
}

/** What could end a line of a mail, or hide in one. */
export const controlOrLineEnd = /[\p{C}\p{Zl}\p{Zp}]/u;

/** A person's first or last name, as it is stored. @param label of the field, for the texts */
export function personName(label: string) {
  const required = `${label} is required`;
  return pipe(
    string(required),
    check((text) => text.trim() !== '', required),
    check((text) => !controlOrLineEnd.test(text), `${label} must not contain control characters`),
    trim(),
    maxLength(200, `${label} is longer than 200 characters`),
    transform((text) => normalised(text, 'NFC')),
  );
}

const longestText = 200;
const mostCodings = 5;

const text = pipe(
  string(),
  check((given) => given.trim() !== '' && !controlOrLineEnd.test(given)),
  maxLength(longestText),
);

const coding = strictObject({
  system: pipe(
    text,
    check((given) => URL.canParse(given)),
  ),
  code: pipe(text, regex(/^\S+( \S+)*$/)),
  display: optional(text),
});

/** R4 CodeableConcept, as far as RelatedPerson.relationship needs it. */
const concept = pipe(
  strictObject({
    coding: optional(pipe(array(coding), minLength(1), maxLength(mostCodings))),
    text: optional(text),
  }),
  check((one) => (one.coding ?? one.text) !== undefined),
);

/** How a RelatedPerson is related to the patient: a CodeableConcept, or its text alone. */
export const relationship = whole(
  union([
    pipe(
      text,
      transform((given): InferOutput<typeof concept> => ({ text: given })),
    ),
    concept,
  ]),
  'relationship must be a CodeableConcept with coding (system, code) or text',
);

export type Relationship = InferOutput<typeof relationship>;
