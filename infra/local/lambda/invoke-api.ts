import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { longestPayloadBytes } from '../context.ts';
import { type Listening, listen, readBody } from '../gateway/listen.ts';

interface InvokeApi {
  functionNames: readonly string[];
  /** In tenant isolation mode: then every call names its tenant. */
  isTenanted: boolean;
  /** Runs the function, for one tenant when it has them, on a parsed payload; its result goes back as JSON. */
  invoke(payload: unknown, tenantId: string): Promise<unknown>;
  /** Whether an error of `invoke` says that nothing was run because no place was free. */
  isThrottle(error: unknown): boolean;
  /** An Event failed: nobody waited for it. */
  onEventFault(error: Error): void;
}

/** Name, partial ARN or ARN, each with an optional qualifier, percent-encoded in the path. */
const invocations = /^\/2015-03-31\/functions\/([^/?]+)\/invocations(?:\?.*)?$/;
const tenantIds = /^[\w.:/=+\-@ ]{1,256}$/;
/** Of an Event invocation. */
const longestEventBytes = 1024 * 1024;

/** Lambda's Invoke operation on loopback, of one function, which may have several names. */
export function serveInvokeApi(api: InvokeApi): Promise<Listening> {
  return listen(0, (request, response) => {
    invoke(api, request, response).catch((error: unknown) => {
      // The function's own error is a 200 that says so; nothing of it is retried.
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      answer(response, 200, { errorType: name, errorMessage: message, trace: [] }, functionError);
    });
  });
}

const functionError = { 'x-amz-function-error': 'Unhandled' };

async function invoke(api: InvokeApi, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
  const tenantId = request.headers['x-amz-tenant-id'];
  const body = await readBody(request, type === 'Event' ? longestEventBytes : longestPayloadBytes);
  if (request.method !== 'POST' || !api.functionNames.includes(nameIn(request.url) ?? '')) {
    return refuse(response, 404, 'ResourceNotFoundException', 'Function not found');
  }
  if (!body) return refuse(response, 413, 'RequestTooLargeException', 'Request must be smaller');
  const isTenant = typeof tenantId === 'string' && tenantIds.test(tenantId);
  if (api.isTenanted ? !isTenant : tenantId !== undefined) {
    return refuse(response, 400, 'InvalidParameterValueException', 'Add a valid tenant ID in your request');
  }
  const payload = parsed(body);
  if (payload === undefined) {
    return refuse(response, 400, 'InvalidRequestContentException', 'Could not parse request body into json');
  }
  if (type === 'DryRun') return answer(response, 204);
  if (type === 'Event') {
    void api.invoke(payload, String(tenantId)).catch(api.onEventFault);
    return answer(response, 202);
  }
  try {
    answer(response, 200, await api.invoke(payload, String(tenantId)));
  } catch (error) {
    if (!api.isThrottle(error)) throw error;
    refuse(response, 429, 'TooManyRequestsException', 'Rate exceeded');
  }
}

function nameIn(url = ''): string | undefined {
  try {
    const name = decodeURIComponent(invocations.exec(url)?.[1] ?? '');
    return name.includes('function:') ? name.split('function:')[1]?.split(':')[0] : name.split(':')[0];
  } catch {
    return undefined;
  }
}

function parsed(body: Buffer): unknown {
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  answer(response, status, { Type: 'User', message }, { 'x-amzn-errortype': type });
}

function answer(response: ServerResponse, status: number, value?: unknown, headers = {}): void {
  let body = status === 202 || status === 204 ? '' : JSON.stringify(value ?? null);
  if (Buffer.byteLength(body) > longestPayloadBytes) {
    headers = functionError;
    body = JSON.stringify({
      errorType: 'Function.ResponseSizeTooLarge',
      errorMessage: `Response payload size exceeded maximum allowed payload size (${longestPayloadBytes} bytes).`,
    });
  }
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-amzn-requestid': randomUUID(),
    'x-amz-executed-version': '$LATEST',
    ...headers,
  });
  response.end(body);
}
