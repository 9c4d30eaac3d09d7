import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type GenericSchema, is } from 'valibot';
import { Refusal } from '../base/refusal.ts';
import { errorCode, errorName, fieldsOf } from '../base/values.ts';
import { type CompileRequest, type RunRequest, sandboxNotStarted } from '../bots/run/contract.ts';
import { packedText, unpack } from '../bots/run/payload.ts';
import { compiled, runResult } from '../bots/run/run-request.ts';
import type { Compiler, Invoked, Invoker, JobStarter } from '../bots/run/services.ts';
import {
  createExchanger,
  type Exchanger,
  leanClient,
  signedPost,
  type WireAnswer,
  within,
} from './wire/transport.ts';

/** One synchronous invocation, never repeated. */
export interface Invocation {
  functionName: string;
  tenantId: string;
  payload: Uint8Array;
  /** How long its answer may take, in ms. */
  answerMs: number;
}

export interface InvocationAnswer {
  /** What the function answered, or what is told of its error, as JSON. */
  payload: string;
  /** `Unhandled`, when the function failed. */
  functionError: string | undefined;
}

/**
 * Lambda's Invoke, with the region, endpoint and credentials of an SDK client.
 * @param endpoint of a local engine only
 * @returns rejects with Node's connection errors, a TimeoutError, and what the service says by its name
 */
export function lambdaCaller(
  { config }: LambdaClient,
  exchanger: Exchanger,
  endpoint: string | undefined,
): (invocation: Invocation) => Promise<InvocationAnswer> {
  const post = signedPost('lambda', config, exchanger, endpoint);

  return async ({ functionName, tenantId, payload: body, answerMs }) => {
    const path = `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`;
    const own = { 'content-type': 'application/octet-stream', 'x-amz-tenant-id': tenantId };
    const answer = await post(path, own, body, answerMs);
    const payload = answer.body.toString('utf8');
    if (answer.statusCode >= 300) throw serviceError(answer, payload);
    const functionError = answer.headers['x-amz-function-error'];
    return { payload, functionError: functionError === undefined ? undefined : String(functionError) };
  };
}

/** The name stands in a header, perhaps with an address behind it: `TooManyRequestsException:http://…`. */
function serviceError({ headers, statusCode }: WireAnswer, said: string): Error {
  const name = String(headers['x-amzn-errortype'] ?? `Status${statusCode}`).split(':')[0] ?? '';
  return Object.assign(new Error(said.slice(0, 200)), { name });
}

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
  const lambda = leanClient('lambda', LambdaClient, connections, { maxAttempts, endpoint });
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
  const sizeOf = (text = '') => Buffer.byteLength(text);
  const [what, sizes] =
    request.kind === 'compile'
      ? ['The code is too large to be compiled', `source ${sizeOf(request.source)}`]
      : [
          'Code and input together are too large to run',
          `code ${sizeOf(request.code.text)}, input ${sizeOf(request.input.text)}`,
        ];
  return new Refusal('too-large', `${what}: ${bytes} bytes packed (${sizes})`);
}
