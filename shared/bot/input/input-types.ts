import type { RunInput } from '../contract.ts';

export type InputKind = Exclude<RunInput['kind'], 'none'>;

/** The content types that a Bot takes, by what its input becomes. The app and the API reference are made with this list. */
export const inputTypes = {
  text: 'text/plain',
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  fhir: 'application/fhir+json',
  hl7: 'x-application/hl7-v2+er7',
} as const satisfies Record<InputKind, string>;

export type InputType = (typeof inputTypes)[InputKind];
