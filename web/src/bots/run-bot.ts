import { OperationOutcomeError } from '../../../client/src/index.ts';
import type { InputType } from '../../../shared/bot/input/input-types.ts';
import type { Api } from '../api/use-api.ts';

export interface Run {
  status: number;
  isGood: boolean;
  contentType: string;
  body: string;
  /** As seen from here, the way there and back included. */
  durationMs: number;
  /** Names the run in its execution record. */
  traceId: string;
}

/** Executes the Bot once with this input. @throws what is no answer: the connection failed, or the signal came */
export async function runBot(
  api: Api,
  botId: string,
  { type: contentType, text, signal }: { type: InputType; text: string; signal: AbortSignal },
): Promise<Run> {
  const traceId = crypto.randomUUID();
  // Messages end their segments with CR; a text area gives LF.
  const body = contentType === 'x-application/hl7-v2+er7' ? text.replace(/\r?\n/g, '\r') : text;
  const startedAt = performance.now();
  const request = {
    method: 'POST',
    contentType,
    headers: { 'x-trace-id': traceId },
    ...(body === '' ? {} : { body: asTyped(body) }),
  };
  const done = (status: number, answer: Pick<Run, 'contentType' | 'body'>): Run => ({
    ...answer,
    status,
    traceId,
    isGood: status < 400,
    durationMs: performance.now() - startedAt,
  });
  try {
    const answer = await api.fetch(`fhir/R4/Bot/${botId}/$execute`, request, signal);
    const type = answer.headers.get('content-type') ?? '';
    return done(answer.status, { contentType: type, body: await readable(answer, type) });
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    const { status, outcome } = error;
    return done(status, {
      contentType: 'application/fhir+json',
      body: JSON.stringify(outcome, undefined, 2),
    });
  }
}

/** As bytes, so that the Bot is given the very content type that was chosen; what is not ASCII has to name its charset. */
function asTyped(text: string): string | Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return bytes.length === text.length ? bytes : text;
}

async function readable(answer: Response, contentType: string): Promise<string> {
  if (/json/.test(contentType)) return pretty(await answer.text());
  if (/^text\/|hl7/.test(contentType)) return (await answer.text()).replace(/\r\n?/g, '\n');
  const { size } = await answer.blob();
  return new Intl.NumberFormat(undefined, { style: 'unit', unit: 'byte', unitDisplay: 'long' }).format(size);
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
