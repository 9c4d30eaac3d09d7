import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Listening, listen, readBody } from './gateway/listen.ts';

/** EventBridge: a request. */
const longestBodyBytes = 1024 * 1024;

interface PutEvents {
  Entries?: { Source: string; DetailType: string; Time: number; Detail: string }[];
}

/**
 * EventBridge's PutEvents on loopback. Each event becomes a line of a file, as targets of a rule would get it.
 * @param file made when it is missing
 */
export function serveBus(file: string): Promise<Listening> {
  return listen(0, (request, response) => {
    take(file, request, response).catch(() => answer(response, 500, { __type: 'InternalException' }));
  });
}

async function take(file: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request, longestBodyBytes);
  if (request.headers['x-amz-target'] !== 'AWSEvents.PutEvents' || !body) {
    return answer(response, 400, { __type: 'UnknownOperationException' });
  }
  const { Entries: entries = [] } = JSON.parse(body.toString('utf8')) as PutEvents;
  const events = entries.map(({ Source: source, DetailType, Time, Detail }) => ({
    ...{ version: '0', id: randomUUID(), 'detail-type': DetailType, source, account: '000000000000' },
    ...{ time: instant(Time), region: 'eu-west-1', resources: [] },
    detail: JSON.parse(Detail),
  }));
  await appendFile(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''), { mode: 0o600 });
  answer(response, 200, { FailedEntryCount: 0, Entries: events.map(({ id }) => ({ EventId: id })) });
}

function answer(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(value));
}

/** EventBridge keeps whole seconds. */
function instant(seconds: number): string {
  return new Date(Math.trunc(seconds) * 1000).toISOString().replace('.000', '');
}
