import type { AccessTokens } from '../../../client/src/access-tokens.ts';
import { executePath, type Identifier } from '../../../client/src/bot-url.ts';
import { type ApiRequest, createPortico } from '../../../client/src/create-portico.ts';
import type { Gate } from '../gate.ts';
import type { Attempt } from './attempts.ts';

/** One message for one Bot. */
export interface Execution {
  bot: string | Identifier;
  content: Buffer;
  key: string;
}

/** What the service answered: read to its end, not yet understood. */
export interface Answer {
  contentType: string;
  body: Buffer;
}

/** One request each: nothing is repeated here. All reject as `createPortico` does, or with NoToken. */
export interface Service {
  /** Runs the Bot and waits for it. */
  execute(execution: Execution, attempt: Attempt): Promise<Answer>;
  /** Puts the run into a job. @returns its id */
  accept(execution: Execution, attempt: Attempt): Promise<string>;
  /** The AsyncJob, once it has ended; undefined while it has not. */
  readJob(jobId: string, attempt: Attempt): Promise<unknown>;
}

const hl7 = 'x-application/hl7-v2+er7';

/** @param gate how many requests may be on their way at once */
export function connectService(baseUrl: string, tokens: AccessTokens, gate: Gate): Service {
  /** One request in its turn, from the token to the last byte of the answer. */
  async function call<Value>(
    path: string,
    request: ApiRequest,
    { signal, onSend }: Attempt,
    read: (response: Response) => Promise<Value>,
  ): Promise<Value> {
    const leave = await gate.enter(signal);
    const get = async () => {
      const token = await tokens.get();
      onSend();
      return token;
    };
    try {
      const portico = createPortico({ baseUrl, auth: { get, drop: tokens.drop } });
      return await read(await portico.fetch(path, request, { signal }));
    } finally {
      leave();
    }
  }

  return {
    execute: (execution, attempt) =>
      call(executePath(execution.bot), post(execution), attempt, async (response) => ({
        contentType: response.headers.get('content-type') ?? '',
        body: Buffer.from(await response.arrayBuffer()),
      })),
    accept: (execution, attempt) =>
      call(executePath(execution.bot), post(execution, { prefer: 'respond-async' }), attempt, jobIdOf),
    readJob: (jobId, attempt) =>
      call(`fhir/R4/job/${jobId}/status`, {}, attempt, async (response) => {
        const text = await response.text();
        return response.status === 202 ? undefined : JSON.parse(text);
      }),
  };
}

/** No charset is said: the service reads MSH-18, as the bytes are the sender's own. */
function post({ content, key }: Execution, headers: Record<string, string> = {}): ApiRequest {
  const all = { ...headers, 'idempotency-key': key };
  return { method: 'POST', body: content, contentType: hl7, headers: all };
}

async function jobIdOf(response: Response): Promise<string> {
  await response.arrayBuffer();
  const place = response.headers.get('content-location') ?? '';
  const jobId = /\/fhir\/R4\/job\/([^/]+)\/status$/.exec(place)?.[1];
  if (jobId === undefined) throw new Error('The service names no job');
  return jobId;
}
