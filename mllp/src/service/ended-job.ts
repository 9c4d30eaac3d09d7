import type { OperationOutcome } from '../../../client/src/operation-outcome-error.ts';
import type { FinalOutcome } from '../receive/outcome.ts';
import { readTextAnswer } from './read-answer.ts';

/** As far as it is read: R4 Parameters with `responseBody` or `outcome`. */
interface AsyncJob {
  status?: unknown;
  output?: { parameter?: { name?: unknown; valueString?: unknown; resource?: unknown }[] };
}

/** What the Bot returned or why it did not, from the AsyncJob of a run that has ended. */
export function readEndedJob(job: unknown): FinalOutcome {
  const { status, output } = (job ?? {}) as AsyncJob;
  const [parameter] = output?.parameter ?? [];
  if (status === 'completed') {
    return typeof parameter?.valueString === 'string'
      ? readTextAnswer(parameter.valueString)
      : { kind: 'done', answer: undefined };
  }
  // With an outcome it had begun, and was stopped somewhere.
  if (status === 'cancelled') {
    return { kind: parameter ? 'failed' : 'not-run', text: 'The job was cancelled' };
  }
  const outcome = parameter?.resource as OperationOutcome | undefined;
  const text = outcome?.issue?.[0]?.details?.text ?? `The job ended as ${JSON.stringify(status)}`;
  const isKnown = status === 'error' && outcome !== undefined && outcome.id !== 'outcome-unknown';
  return { kind: isKnown ? 'failed' : 'unknown', text };
}
