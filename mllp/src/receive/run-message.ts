import type { OperationOutcomeError } from '../../../client/src/operation-outcome-error.ts';
import { isMalformed } from '../hl7/is-malformed.ts';
import { type Budget, untilDecided, type Verdict } from '../service/attempts.ts';
import { readAnswer } from '../service/read-answer.ts';
import type { Execution, Service } from '../service/service.ts';
import type { FinalOutcome, Outcome } from './outcome.ts';

/** What became of it, and what that took: for the log. */
export interface Told<Kind extends Outcome> {
  outcome: Kind;
  attempts: number;
  /** HTTP status of a refusal. */
  status?: number;
}

/** Runs the Bot and waits for its answer. */
export async function runMessage(
  service: Service,
  execution: Execution,
  budget: Budget,
): Promise<Told<FinalOutcome>> {
  const verdict = await untilDecided((attempt) => service.execute(execution, attempt), budget);
  if (verdict.kind === 'answered') {
    return { outcome: readAnswer(verdict.value), attempts: verdict.attempts };
  }
  return notDone(verdict, execution.content);
}

/** Puts the message into a job of the service, which from then on answers for it. */
export async function acceptMessage(
  service: Service,
  execution: Execution,
  budget: Budget,
): Promise<Told<Outcome>> {
  const verdict = await untilDecided((attempt) => service.accept(execution, attempt), budget);
  if (verdict.kind === 'answered') {
    return { outcome: { kind: 'accepted', jobId: verdict.value }, attempts: verdict.attempts };
  }
  return notDone(verdict, execution.content);
}

function notDone(
  verdict: Exclude<Verdict<unknown>, { kind: 'answered' }>,
  content: Buffer,
): Told<FinalOutcome> {
  const { attempts, mayHaveRun } = verdict;
  if (verdict.kind === 'given-up') {
    return { outcome: { kind: mayHaveRun ? 'unknown' : 'not-run', text: verdict.text }, attempts };
  }
  const { refusal } = verdict;
  const kind = kindOf(refusal, mayHaveRun, content);
  return { outcome: { kind, text: refusal.message }, attempts, status: refusal.status };
}

/**
 * AR only for what no repeat will mend. A 400 is the Bot's, or the message's own fault; everything else a
 * setting that somebody can put right.
 */
function kindOf(
  { status, outcome }: OperationOutcomeError,
  mayHaveRun: boolean,
  content: Buffer,
): 'failed' | 'rejected' | 'not-run' | 'unknown' {
  if (status === 413 || status === 415) return 'rejected';
  if (status === 400) {
    return outcome.issue[0]?.code === 'invalid' && isMalformed(content) ? 'rejected' : 'failed';
  }
  // An earlier attempt was lost on its way: that it is refused now does not tell what became of that one.
  if (outcome.id === 'outcome-unknown' || mayHaveRun) return 'unknown';
  return 'not-run';
}
