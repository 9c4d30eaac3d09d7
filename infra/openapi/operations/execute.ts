import type { routes } from '../../../functions/routes.ts';
import type { InputType } from '../../../shared/bot/input/input-types.ts';
import { type Answer, type Body, idempotent, ref, refused, type Words } from '../words.ts';

const anything = { description: 'What the Bot returned' };
const input: Body = {
  content: {
    'text/plain': { type: 'string' },
    'application/json': { description: 'Any JSON' },
    'application/x-www-form-urlencoded': { type: 'object', additionalProperties: { type: 'string' } },
    'application/fhir+json': { type: 'object' },
    'x-application/hl7-v2+er7': { type: 'string', description: 'An HL7 v2 message' },
  } satisfies Record<InputType, object>,
  isOptional: true,
};
const answers: Record<number, Answer> = {
  200: {
    description: 'What the Bot returned; without a result an OperationOutcome',
    content: {
      'application/json': anything,
      'application/fhir+json': ref('Resource'),
      'text/plain': { type: 'string' },
      'x-application/hl7-v2+er7': { type: 'string' },
    },
  },
  202: refused('Accepted, with `Prefer: respond-async`; Content-Location is where to look'),
  400: refused('The input is not valid, or the Bot failed: it threw, or met a limit'),
  404: refused('No such Bot'),
  409: refused('It may have run'),
  429: refused('It was not run: send it again later'),
  503: refused('It was not run: no sandbox started'),
};
const headers = {
  ...idempotent,
  Prefer: '`respond-async` answers at once and runs for up to 14 minutes',
  'X-Run-Key': 'Chosen by the caller, who may cancel the run with it while it goes on',
};

export const executeById: Record<keyof (typeof routes)['execute-by-id'], Words> = {
  executeById: { summary: 'Run a Bot', headers, body: input, answers },
};

export const executeByIdentifier: Record<keyof (typeof routes)['execute-by-identifier'], Words> = {
  executeByIdentifier: {
    summary: 'Run a Bot by its identifier',
    query: { 'identifier!': '`<system>|<value>`' },
    headers,
    body: input,
    answers,
  },
};
