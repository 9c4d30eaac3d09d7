import type { RunRequest } from '../../shared/bot/contract.ts';
import type { Invoker } from '../../shared/bot/invoker.ts';
import { stringifyJson } from '../../shared/fhir/json.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { fieldsOf } from '../../shared/fields-of.ts';
import { Later } from '../../shared/queue/later.ts';

/** What FHIRPath is evaluated with, in the sandbox: it is a customer's text, and so is the record. */
const program = `
const { evalFhirPathTyped, toTypedValue } = require('@medplum/core');
exports.handler = async (medplum, event) => {
  const { expression, current, previous } = event.input;
  const found = evalFhirPathTyped(expression, [toTypedValue(current)], {
    '%current': toTypedValue(current),
    '%previous': toTypedValue(previous || {}),
  });
  return { isMet: found.length > 0 && found[0].value === true };
};`;

const code = { version: 'fhir-path-1', format: 'cjs', filename: 'fhir-path.js', text: program } as const;
const limits = { timeoutMs: 2_000, memoryMb: 128, resultBytes: 1_000, logBytes: 0, calls: 0 };
/** The invoker and its child may have to start. */
const longestMs = 15_000;

/** `failed` when it came to no value, and why. */
type Evaluated = { isMet: boolean } | { failed: string };

interface EvaluateServices {
  evaluator: Invoker;
  now(): number;
  newId(): string;
}

/** @throws {Later} when it could not be evaluated now */
export async function evaluate(
  { evaluator, now, newId }: EvaluateServices,
  project: string,
  expression: string,
  { current, previous }: { current: Resource; previous: Resource | undefined },
): Promise<Evaluated> {
  const runId = newId();
  const self = { reference: `Project/${project}` };
  const request: RunRequest = {
    ...{ kind: 'run', runId, project, code, limits, deadlineAtMs: now() + longestMs },
    input: { kind: 'json', text: stringifyJson({ expression, current, previous }) },
    event: { bot: self, requester: self, headers: {}, secrets: {}, traceId: runId },
  };
  const invoked = await evaluator.invoke(request);
  if (invoked.kind !== 'result') throw new Later(2_000);
  const { outcome } = invoked.result;
  if (outcome.kind === 'returned' && outcome.value.type === 'json') {
    return { isMet: fieldsOf(JSON.parse(outcome.value.text)).isMet === true };
  }
  return {
    failed: outcome.kind === 'limit' ? `expression: limit of ${outcome.limit}` : 'expression: failed',
  };
}
