import { OperationOutcomeError } from '../../../client/src/index.ts';
import type { InputType } from '../../../shared/bots/run/contract.ts';
import type { Api } from '../api/use-api.ts';

export type BotRun = Awaited<ReturnType<typeof runBot>>;

/** Executes the Bot once with this input. @param runKey by which it can be cancelled. @throws what is no answer: the connection failed */
export async function runBot(
  api: Api,
  botId: string,
  { type: contentType, text, runKey }: { type: InputType; text: string; runKey: string },
) {
  const traceId = crypto.randomUUID();
  // Messages end their segments with CR; a text area gives LF.
  const body = contentType === 'x-application/hl7-v2+er7' ? text.replace(/\r?\n/g, '\r') : text;
  const startedAt = performance.now();
  const request = {
    method: 'POST',
    contentType,
    headers: { 'x-trace-id': traceId, 'x-run-key': runKey },
    ...(body === '' ? {} : { body: asTyped(body) }),
  };
  const done = (status: number, answer: { contentType: string; body: string }, isCancelled = false) => ({
    ...answer,
    isCancelled,
    status,
    traceId,
    isGood: status < 400,
    /** As seen from here, the way there and back included. */
    durationMs: performance.now() - startedAt,
  });
  try {
    const answer = await api.fetch(`fhir/R4/Bot/${botId}/$execute`, request);
    const type = answer.headers.get('content-type') ?? '';
    return done(answer.status, { contentType: type, body: await readable(answer, type) });
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    const { status, outcome } = error;
    const body = JSON.stringify(outcome, undefined, 2);
    const isCancelled = outcome?.issue?.[0]?.code === 'processing';
    return done(status, { contentType: 'application/fhir+json', body }, isCancelled);
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

/** The content types that a Bot takes. */
export const inputTypes: Record<InputType, string> = {
  'text/plain': 'Text',
  'application/json': 'JSON',
  'application/x-www-form-urlencoded': 'Form',
  'application/fhir+json': 'FHIR',
  'x-application/hl7-v2+er7': 'HL7 v2',
};

/** An input to begin with, of each type. */
export const samples: Record<InputType, string> = {
  'text/plain': 'hello',
  'application/json': '{\n  "greeting": "hello",\n  "times": 2\n}',
  'application/x-www-form-urlencoded': 'name=Jane+Doe&city=Gen%C3%A8ve',
  'application/fhir+json':
    '{\n  "resourceType": "Patient",\n  "name": [{ "family": "Doe", "given": ["Jane"] }],\n  "birthDate": "1980-01-01"\n}',
  'x-application/hl7-v2+er7': [
    'MSH|^~\\&|LAB|CLINIC|PORTICO|DEMO|20260101120000||ADT^A01^ADT_A01|MSG0001|P|2.5.1',
    'PID|1||12345^^^CLINIC^MR||Doe^Jane||19800101|F',
  ].join('\n'),
};
