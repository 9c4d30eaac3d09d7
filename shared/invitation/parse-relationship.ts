import {
  array,
  check,
  type InferOutput,
  maxLength,
  minLength,
  optional,
  pipe,
  regex,
  strictObject,
  string,
  transform,
  union,
} from 'valibot';
import { whole } from '../schema/values.ts';
import { controlOrLineEnd } from './parse-name.ts';

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
