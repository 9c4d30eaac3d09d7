import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { type Listening, listen, readBody } from '../../../infra/local/gateway/listen.ts';
import { createExchanger, type Exchanger, type WireAnswer } from '../../../shared/aws/wire/transport.ts';
import { type Fault, faults, isSilent, type Kind, type Said, type Service } from './faults.ts';

/** A call that a function has made. */
export interface Call {
  service: Service;
  /** `TransactWriteItems`, `SendMessageBatch` and the like. */
  operation: string;
  /** Whether the service was reached, and what it said: undefined when it was not. */
  status: number | undefined;
  /** It was done, and its answer did not come. */
  isLost?: boolean;
  /** Nothing was said to it: its caller cannot know whether it was done. */
  isSilent?: boolean;
  /** What it asked for; of the table not kept. */
  request: Record<string, unknown>;
}

/** Which call is disturbed, counted from 1 over all services, and how; 0 disturbs none. */
export interface Disturbance {
  n: number;
  kind: Kind;
}

/** The ways from the functions to all services: calls are counted and disturbed here. */
export interface Ways {
  /** A way to a service at an address. */
  to(service: Service, url: string): Promise<string>;
  /** What was called while `run` ran, and what it came to. */
  during<T>(
    disturbance: Disturbance | undefined,
    run: () => Promise<T>,
  ): Promise<{ calls: Call[]; result: PromiseSettledResult<T> }>;
  /** How many calls have arrived that may have changed the table. */
  written(): number;
  /** Something else has changed the table. */
  noteWrite(): void;
  stop(): Promise<void>;
}

/** Turns of the event loop until the other end of a closed connection knows it. */
const turnsToClose = 3;
const longestBodyBytes = 17 * 1024 * 1024;

export function openWays(): Ways {
  const exchanger = createExchanger();
  const servers: Listening[] = [];
  let calls: Call[] = [];
  let disturbance: Disturbance | undefined;
  let struck: Service | undefined;
  let written = 0;

  /** What this call meets. */
  function faultOf(service: Service, n: number): (Fault & { isFirst: boolean }) | undefined {
    if (!disturbance || n < disturbance.n) return undefined;
    const fault: Fault = faults[disturbance.kind];
    const isFirst = n === disturbance.n;
    if (isFirst) struck = service;
    const isMet = isFirst || fault.lasts === 'of any service' || (fault.lasts && service === struck);
    return isMet ? { ...fault, isFirst } : undefined;
  }

  async function pass(service: Service, to: URL, request: IncomingMessage, response: ServerResponse) {
    const call: Call = { service, operation: operationOf(request), status: undefined, request: {} };
    const fault = faultOf(service, calls.push(call));
    const body = await readBody(request, longestBodyBytes);
    if (service !== 'table') call.request = parsed(body);
    if (!fault || (fault.arrives && fault.isFirst)) {
      const answer = await forward(exchanger, to, request, body);
      call.status = answer.statusCode;
      if (isWrite(call)) written += 1;
      if (!fault) return passOn(answer, response);
    }
    if (call.status !== undefined) call.isLost = true;
    if (isSilent(fault)) call.isSilent = true;
    if (!fault.say) return void request.socket.destroy();
    say(response, fault.say(service, call.operation, call.request));
  }

  return {
    async to(service, url) {
      const target = new URL(url);
      const server = await listen(0, (request, response) => {
        pass(service, target, request, response).catch(() => request.socket.destroy());
      });
      servers.push(server);
      return url.replace(target.origin, server.url);
    },
    async during(disturbing, run) {
      [calls, disturbance, struck] = [[], disturbing, undefined];
      const [result] = await Promise.allSettled([run()]);
      disturbance = undefined;
      const own = calls;
      // What is called from now on is not of this run.
      calls = [];
      for (const server of servers) server.closeIdle();
      // Repeats come without a pause here: whoever calls next knows by then which connections are closed.
      for (let turn = 0; turn < turnsToClose; turn += 1) await turnOfLoop();
      return { calls: own, result };
    },
    written: () => written,
    noteWrite() {
      written += 1;
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      exchanger.close();
    },
  };
}

/** A request as it came, to the service that it is for. */
export function forward(
  exchanger: Exchanger,
  { protocol, hostname, port, host }: URL,
  request: IncomingMessage,
  body: Buffer | undefined,
): Promise<WireAnswer> {
  const { host: _, connection: __, ...headers } = request.headers;
  return exchanger.send({
    ...{ protocol, hostname, port, body },
    method: String(request.method),
    path: String(request.url),
    headers: { ...(headers as Record<string, string>), host },
  });
}

export function passOn({ statusCode, headers, body }: WireAnswer, response: ServerResponse): void {
  const { connection: _, 'transfer-encoding': __, ...said } = headers;
  response.writeHead(statusCode, said).end(body);
}

/** Whether it may have changed the table. */
export function isWrite({ service, operation }: Call): boolean {
  return service === 'table' && !['BatchGetItem', 'GetItem', 'Query', 'Scan'].includes(operation);
}

function say(response: ServerResponse, { status, headers = {}, body }: Said): void {
  response.writeHead(status, headers).end(JSON.stringify(body));
}

function operationOf({ headers, url = '' }: IncomingMessage): string {
  return (
    String(headers['x-amz-target'] ?? url)
      .split(/[./]/)
      .at(-1) ?? ''
  );
}

/** What other services than the table have taken; KMS is told nothing that it keeps. */
export function takenOf(calls: readonly Call[]): Call[] {
  return calls.filter(
    ({ service, status }) => service !== 'table' && service !== 'kms' && status !== undefined && status < 300,
  );
}

/** The messages that queues have taken. */
export function messagesOf(calls: readonly Call[]): { queue: string; body: string }[] {
  const sent = calls.filter(({ operation, status }) => operation === 'SendMessageBatch' && status === 200);
  return sent.flatMap(({ request: { QueueUrl, Entries } }) =>
    (Entries as { MessageBody: string }[]).map(({ MessageBody: body }) => ({
      queue: String(QueueUrl).split('/').at(-1) ?? '',
      body,
    })),
  );
}

function parsed(body: Buffer | undefined): Record<string, unknown> {
  try {
    return JSON.parse(String(body));
  } catch {
    return {};
  }
}
