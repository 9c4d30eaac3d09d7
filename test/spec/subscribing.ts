import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Portico } from './portico.ts';

const fhir = { 'content-type': 'application/fhir+json' };
const extensionBase = 'https://medplum.com/fhir/StructureDefinition/';

/** An extension that existing Subscriptions carry, by the end of its name. */
export function extension(name: string, value: Record<string, unknown>) {
  return { url: `${extensionBase}${name}`, ...value };
}

export const only = (...interactions: string[]) =>
  interactions.map((valueCode) => extension('subscription-supported-interaction', { valueCode }));

export const secret = (valueString: string) => ({
  url: 'https://www.medplum.com/fhir/StructureDefinition/subscription-secret',
  valueString,
});

export function newSubscription(endpoint: string, criteria: string, more: Record<string, unknown> = {}) {
  const { channel, ...rest } = more;
  return {
    ...{ resourceType: 'Subscription', status: 'active', reason: 'To be told', criteria },
    channel: { type: 'rest-hook', endpoint, payload: 'application/fhir+json', ...(channel as object) },
    ...rest,
  };
}

/** Creates a Subscription, and waits until it is active; answers its id. */
export async function subscribe(
  portico: Portico,
  endpoint: string,
  criteria: string,
  more: Record<string, unknown> = {},
  token?: string,
): Promise<string> {
  const body = newSubscription(endpoint, criteria, more);
  const as = token === undefined ? {} : { token };
  const answer = await portico.api('POST', 'fhir/R4/Subscription', { body, headers: fhir, ...as });
  if (answer.status !== 201) throw new Error(`No Subscription: ${answer.status} ${answer.text}`);
  await untilStatus(portico, answer.json.id, 'active');
  return answer.json.id;
}

export async function untilStatus(portico: Portico, id: string, status: string): Promise<Answer> {
  return until(async () => {
    const answer = await portico.api('GET', `fhir/R4/Subscription/${id}`);
    return answer.json?.status === status ? answer : undefined;
  }, `Subscription/${id} is ${status}`);
}

/** What `look` finds, asked for again and again, ever less often: each look takes time from what is waited for. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> {
  const beganMs = Date.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    const waitedMs = Date.now() - beganMs;
    if (waitedMs > 100_000) throw new Error(`Not in time: ${what}`);
    await pause(Math.min(500, Math.max(25, waitedMs / 3)));
  }
}

/** Creates or changes a record; answers it. */
export async function put(
  portico: Portico,
  resource: { resourceType: string; id?: string; [name: string]: unknown },
) {
  const { resourceType, id } = resource;
  const [method, path] = id === undefined ? ['POST', resourceType] : ['PUT', `${resourceType}/${id}`];
  const answer = await portico.api(String(method), `fhir/R4/${path}`, {
    body: resource,
    headers: { ...fhir, 'x-medplum': 'extended' },
  });
  if (answer.status >= 300) throw new Error(`Not written: ${answer.status} ${answer.text}`);
  return answer.json;
}

/** The attempts of a Subscription, newest first: their details by name, and the code of their outcome. */
export async function attemptsOf(portico: Portico, id: string): Promise<Record<string, string>[]> {
  const { json } = await portico.api('GET', `fhir/R4/Subscription/${id}/$deliveries?_count=100`);
  return json.entry.map(({ resource }: { resource: Attempt }) => ({
    code: resource.outcome,
    record: resource.entity[0]?.what.reference,
    ...Object.fromEntries(
      (resource.entity[0]?.detail ?? []).map(({ type, valueString }) => [type, valueString]),
    ),
  }));
}

interface Attempt {
  outcome: string;
  entity: { what: { reference: string }; detail: { type: string; valueString: string }[] }[];
}
