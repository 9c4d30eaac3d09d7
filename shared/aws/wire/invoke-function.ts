import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { Answer, Exchanger } from './exchange.ts';
import { openedService } from './opened-service.ts';

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
  const opened = openedService('lambda', config, endpoint);

  return async ({ functionName, tenantId, payload: body, answerMs }) => {
    const { url, sign } = await opened();
    const { protocol, hostname, port, host } = url;
    const path = `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`;
    const headers = { host, 'content-type': 'application/octet-stream', 'x-amz-tenant-id': tenantId };
    const request = { method: 'POST', path, headers, body };
    const signature = sign(request, await config.credentials(), Date.now());
    const answer = await exchanger.send({
      ...{ ...request, protocol, hostname, port, answerMs },
      headers: { ...headers, ...signature, 'content-length': String(body.length) },
    });
    const payload = answer.body.toString('utf8');
    if (answer.statusCode >= 300) throw serviceError(answer, payload);
    const functionError = answer.headers['x-amz-function-error'];
    return { payload, functionError: functionError === undefined ? undefined : String(functionError) };
  };
}

/** The name stands in a header, perhaps with an address behind it: `TooManyRequestsException:http://…`. */
function serviceError({ headers, statusCode }: Answer, said: string): Error {
  const name = String(headers['x-amzn-errortype'] ?? `Status${statusCode}`).split(':')[0] ?? '';
  return Object.assign(new Error(said.slice(0, 200)), { name });
}
