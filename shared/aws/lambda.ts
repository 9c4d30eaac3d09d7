import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type GenericSchema, is } from 'valibot';
import { type CompileRequest, type RunRequest, sandboxNotStarted } from '../bot/contract.ts';
import type { Compiler, Invoked, Invoker } from '../bot/invoker.ts';
import type { JobStarter } from '../bot/job/job-starter.ts';
import { packedText, unpack } from '../bot/payload.ts';
import { compiled, runResult } from '../bot/run-result.ts';
import { errorCode, errorName } from '../error-name.ts';
import { fieldsOf } from '../fields-of.ts';
import { Refusal } from '../refusal.ts';
import { createExchanger } from './wire/exchange.ts';
import { lambdaCaller } from './wire/invoke-function.ts';
import { leanClient, within } from './wire/lean-client.ts';

/** Lambda takes this much in one synchronous payload. */
const longestPayload = 6_291_556;
/** How long past the run's deadline an answer may take: the caller's own 29 s must not end first. */
const graceMs = 1_500;
/** A connection unused for longer may be dead, above all when Lambda froze this process meanwhile. */
const freshMs = 10_000;
/** For an event to be taken. */
const startWithinMs = 10_000;

/**
 * The invoker behind the Lambda Invoke API. Never repeats: a run that may have started is not run
 * again. The Project is the tenant, so an environment never serves two.
 */
export function lambdaInvoker(functionName: string, endpoint: string | undefined): Invoker & Compiler {
  const { lambda, connections } = connect(1, endpoint);
  const call = lambdaCaller(lambda, connections, endpoint);
  let usedAtMs = Date.now();

  async function ask<Result>(
    request: RunRequest | CompileRequest,
    schema: GenericSchema<Result>,
  ): Promise<Invoked<Result>> {
    const payload = Buffer.from(packedText(request));
    if (payload.length > longestPayload) throw tooLarge(request, payload.length);
    // A run that is sent over a dead connection cannot be repeated: nobody knows that it did not start.
    if (Date.now() - usedAtMs > freshMs) connections.closeUnused();
    usedAtMs = Date.now();
    try {
      const waitMs = Math.max(1, request.deadlineAtMs + graceMs - Date.now());
      const answer = await call({ functionName, tenantId: request.project, payload, answerMs: waitMs });
      if (answer.payload === '') return { kind: 'unknown', reason: 'no payload' };
      const said = fieldsOf(JSON.parse(answer.payload));
      if (answer.functionError === undefined) {
        const result: unknown = unpack(said);
        return is(schema, result) ? { kind: 'result', result } : { kind: 'unknown', reason: 'no result' };
      }
      if (said.errorType === sandboxNotStarted) return { kind: 'not-started' };
      return { kind: 'unknown', reason: answer.functionError };
    } catch (error) {
      return classify(error);
    }
  }

  return {
    invoke: (request) => ask(request, runResult),
    compile: (request) => ask(request, compiled),
  };
}

/** The `jobs` function, invoked without waiting for it. */
export function lambdaJobs(functionName: string, endpoint: string | undefined): JobStarter {
  const { lambda } = connect(2, endpoint);
  return {
    async start(event) {
      const Payload = Buffer.from(JSON.stringify(event));
      try {
        await within(startWithinMs, () =>
          lambda.send(new InvokeCommand({ FunctionName: functionName, InvocationType: 'Event', Payload })),
        );
        return 'started';
      } catch (error) {
        const { kind } = classify(error);
        return kind === 'throttled' ? 'refused' : 'started';
      }
    },
  };
}

function connect(maxAttempts: number, endpoint: string | undefined) {
  const connections = createExchanger();
  const lambda = leanClient(
    'lambda',
    connections,
    (options) => new LambdaClient({ maxAttempts, ...options, ...(endpoint ? { endpoint } : {}) }),
  );
  return { lambda, connections };
}

const notStarted = new Set([
  'AccessDeniedException',
  'ResourceNotFoundException',
  'InvalidParameterValueException',
]);
const throttled = new Set(['TooManyRequestsException', 'EC2ThrottledException', 'ResourceNotReadyException']);

function classify(error: unknown): Exclude<Invoked, { kind: 'result' }> {
  const name = errorName(error);
  const code = errorCode(error);
  if (throttled.has(name) || code === 'ECONNREFUSED') return { kind: 'throttled' };
  if (notStarted.has(name)) throw error;
  return { kind: 'unknown', reason: code ?? name };
}

function tooLarge(request: RunRequest | CompileRequest, bytes: number): Refusal {
  const [what, sizes] =
    request.kind === 'compile'
      ? ['The code is too large to be compiled', `source ${Buffer.byteLength(request.source)}`]
      : ['Code and input together are too large to run', sizesOf(request)];
  return new Refusal('too-large', `${what}: ${bytes} bytes packed (${sizes})`);
}

function sizesOf({ code, input }: RunRequest): string {
  return `code ${Buffer.byteLength(code.text)}, input ${Buffer.byteLength(input.text ?? '')}`;
}
