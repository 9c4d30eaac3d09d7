import type { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type RunRequest, sandboxNotStarted } from '../bot/contract.ts';
import type { Invoked, Invoker } from '../bot/invoker.ts';
import type { JobStarter } from '../bot/job-starter.ts';
import { packRun, unpackResult } from '../bot/payload.ts';
import { Refusal } from '../refusal.ts';

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
export function lambdaInvoker(functionName: string, endpoint: string | undefined): Invoker {
  const httpsAgent = new HttpsAgent({ keepAlive: true });
  const lambda = new LambdaClient({
    maxAttempts: 1,
    requestHandler: { httpsAgent },
    ...(endpoint ? { endpoint } : {}),
  });
  let usedAtMs = Date.now();
  return {
    async invoke(request) {
      const payload = Buffer.from(JSON.stringify(packRun(request)));
      if (payload.length > longestPayload) throw tooLarge(request, payload.length);
      if (Date.now() - usedAtMs > freshMs) closeUnused(httpsAgent);
      usedAtMs = Date.now();
      try {
        const answer = await lambda.send(
          new InvokeCommand({ FunctionName: functionName, TenantId: request.project, Payload: payload }),
          { abortSignal: AbortSignal.timeout(Math.max(1, request.deadlineAtMs + graceMs - Date.now())) },
        );
        if (!answer.Payload) return { kind: 'unknown', reason: 'no payload' };
        const said = JSON.parse(Buffer.from(answer.Payload).toString('utf8'));
        if (!answer.FunctionError) return { kind: 'result', result: unpackResult(said) };
        if (said?.errorType === sandboxNotStarted) return { kind: 'throttled' };
        return { kind: 'unknown', reason: answer.FunctionError };
      } catch (error) {
        return classify(error as Error);
      }
    },
  };
}

/** The `jobs` function, invoked without waiting for it. */
export function lambdaJobs(functionName: string, endpoint: string | undefined): JobStarter {
  const lambda = new LambdaClient({ maxAttempts: 2, ...(endpoint ? { endpoint } : {}) });
  return {
    async start(event) {
      const Payload = Buffer.from(JSON.stringify(event));
      try {
        await lambda.send(
          new InvokeCommand({ FunctionName: functionName, InvocationType: 'Event', Payload }),
          { abortSignal: AbortSignal.timeout(startWithinMs) },
        );
        return 'started';
      } catch (error) {
        const { kind } = classify(error as Error);
        return kind === 'throttled' ? 'refused' : 'started';
      }
    },
  };
}

/** A run that is sent over a dead connection cannot be repeated: nobody knows that it did not start. */
export function closeUnused({ freeSockets }: Pick<Agent, 'freeSockets'>): void {
  for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
}

const notStarted = new Set([
  'AccessDeniedException',
  'ResourceNotFoundException',
  'InvalidParameterValueException',
]);
const throttled = new Set(['TooManyRequestsException', 'EC2ThrottledException', 'ResourceNotReadyException']);

function classify(error: Error & { code?: string }): Invoked {
  if (throttled.has(error.name) || error.code === 'ECONNREFUSED') return { kind: 'throttled' };
  if (notStarted.has(error.name)) throw error;
  return { kind: 'unknown', reason: error.code ?? error.name };
}

function tooLarge({ code, input }: RunRequest, bytes: number): Refusal {
  const sizes = `code ${Buffer.byteLength(code.text)}, input ${Buffer.byteLength(input.text ?? '')}`;
  return new Refusal(
    'too-large',
    `Code and input together are too large to run: ${bytes} bytes packed (${sizes})`,
  );
}
