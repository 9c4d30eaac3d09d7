import type { AuditEvent, Bundle } from '@medplum/fhirtypes';
import type { Api } from '../api/use-api.ts';

/** One attempt to deliver a change of a record. */
export interface Attempt {
  id: string;
  at: string;
  delivery: string;
  /** `Patient/<id>` */
  record: string;
  interaction: string;
  attempt: number;
  /** How often the delivery was begun anew by hand. */
  redelivery: number;
  outcome: string;
  kind: 'good' | 'bad' | 'waiting';
  durationMs: string | undefined;
}

/** A delivery with its attempts, newest first. */
export interface Delivery {
  id: string;
  attempts: [Attempt, ...Attempt[]];
}

const kinds: Readonly<Record<string, Attempt['kind']>> = { '0': 'good', '8': 'waiting' };

/** One page of a Subscription's attempts, newest first. @param from the `next` of the page before */
export async function listAttempts(
  api: Api,
  subscriptionId: string,
  { outcome = '', from, signal }: { outcome?: string; from?: string; signal?: AbortSignal },
): Promise<{ attempts: Attempt[]; next: string | undefined }> {
  const query = new URLSearchParams({ _count: '50', ...(outcome ? { outcome } : {}) });
  const path = from ?? `fhir/R4/Subscription/${subscriptionId}/$deliveries?${query}`;
  const { entry = [], link } = await api.get<Bundle<AuditEvent>>(path, signal);
  return {
    attempts: entry.flatMap(({ resource }) => (resource ? attemptOf(resource) : [])),
    next: link?.find(({ relation }) => relation === 'next')?.url,
  };
}

/** Those of one delivery together, where its newest attempt is. */
export function byDelivery(attempts: readonly Attempt[]): Delivery[] {
  const found = new Map<string, Delivery>();
  for (const attempt of attempts) {
    const known = found.get(attempt.delivery);
    if (known) known.attempts.push(attempt);
    else found.set(attempt.delivery, { id: attempt.delivery, attempts: [attempt] });
  }
  return [...found.values()];
}

function attemptOf({ id = '', recorded, outcome, outcomeDesc = '', entity }: AuditEvent): Attempt {
  const { what, detail = [] } = entity?.[0] ?? {};
  const details = new Map(detail.map(({ type, valueString }) => [type, valueString]));
  return {
    ...{ id, at: recorded, record: what?.reference ?? '', outcome: outcomeDesc },
    delivery: details.get('delivery') ?? '',
    interaction: details.get('interaction') ?? '',
    attempt: Number(details.get('attempt') ?? 1),
    redelivery: Number(details.get('redelivery') ?? 0),
    kind: kinds[outcome ?? ''] ?? 'bad',
    durationMs: details.get('durationMs'),
  };
}
