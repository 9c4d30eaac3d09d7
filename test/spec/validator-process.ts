import { readFileSync } from 'node:fs';
import { Fhir } from 'fhir';

/** Reads a JSON list of resources from its input, and answers what the validator of npm `fhir` has against each. */
const validator = new Fhir();
const bodies = JSON.parse(readFileSync(0, 'utf8')) as object[];
const faults = bodies.map((body) =>
  validator
    .validate(body, { errorOnUnexpected: true })
    .messages.filter(({ severity }) => severity === 'error' || severity === 'fatal')
    .map(({ location, message }) => `${location}: ${message}`),
);
process.stdout.write(JSON.stringify(faults));
