import type { InputType } from '../../../shared/bot/input/input-types.ts';
import { typedEntries } from '../../../shared/typed-keys.ts';

interface Sample {
  label: string;
  text: string;
}

const sampleOf: Record<InputType, Sample> = {
  'text/plain': { label: 'Text', text: 'hello' },
  'application/json': { label: 'JSON', text: '{\n  "greeting": "hello",\n  "times": 2\n}' },
  'application/x-www-form-urlencoded': { label: 'Form', text: 'name=Jane+Doe&city=Gen%C3%A8ve' },
  'application/fhir+json': {
    label: 'FHIR',
    text: '{\n  "resourceType": "Patient",\n  "name": [{ "family": "Doe", "given": ["Jane"] }],\n  "birthDate": "1980-01-01"\n}',
  },
  'x-application/hl7-v2+er7': {
    label: 'HL7 v2',
    text: [
      'MSH|^~\\&|LAB|CLINIC|PORTICO|DEMO|20260101120000||ADT^A01^ADT_A01|MSG0001|P|2.5.1',
      'PID|1||12345^^^CLINIC^MR||Doe^Jane||19800101|F',
    ].join('\n'),
  },
};

/** The content types that a Bot takes, each with an input to begin with. */
export const samples = typedEntries(sampleOf).map(([value, sample]) => ({ value, ...sample }));
