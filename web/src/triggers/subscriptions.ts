import type { AuditEvent, Bot, Bundle, Extension, Subscription } from '@medplum/fhirtypes';
import { isKeyOf } from '../../../shared/base/values.ts';
import { nextOf, queryOf, resourcesIn } from '../api/fhir.ts';
import type { Api } from '../api/use-api.ts';
import type { AskedPage, LoadedPage } from '../api/use-pages.ts';
import type { BadgeKind } from '../ui/basics.tsx';

const base = 'https://medplum.com/fhir/StructureDefinition/';
const interactionName = 'subscription-supported-interaction';
const expressionName = 'fhir-path-criteria-expression';

/** What wakes it, by the changes of a record that it is about. */
export const moments = {
  '': 'created, changed or deleted',
  'create update': 'created or changed',
  create: 'created',
  update: 'changed',
  delete: 'deleted',
} as const;
type When = keyof typeof moments;

/** What a person writes of a new Subscription. */
export interface NewTrigger {
  criteria: string;
  when: When;
  extension: string;
  reason: string;
}

/** Those that wake a Bot. */
export function subscriptionsOf(api: Api, botId: string, signal?: AbortSignal): Promise<Subscription[]> {
  const query = new URLSearchParams({ url: `Bot/${botId}`, _count: '100', _sort: '_id' });
  return api.get<Bundle<Subscription>>(`fhir/R4/Subscription?${query}`, signal).then(resourcesIn);
}

export function createSubscription(api: Api, bot: Bot, trigger: NewTrigger): Promise<Subscription> {
  const { criteria, when, extension: expression, reason } = trigger;
  const extension: Extension[] = [
    ...when
      .split(' ')
      .filter(Boolean)
      .map((valueCode) => ({ url: base + interactionName, valueCode })),
    ...(expression ? [{ url: base + expressionName, valueString: expression }] : []),
  ];
  return api.change('POST', 'fhir/R4/Subscription', {
    resourceType: 'Subscription',
    status: 'active',
    reason,
    criteria: criteria.trim(),
    channel: { type: 'rest-hook', endpoint: `Bot/${bot.id}`, payload: 'application/fhir+json' },
    ...(extension.length > 0 ? { extension } : {}),
  });
}

/** "When a Patient is created or changed" */
export function whenOf({ criteria, extension = [] }: Subscription): string {
  const [type = ''] = criteria.split('?');
  const codes = named(extension, interactionName).map(({ valueCode }) => valueCode);
  const interactions = ['create', 'update', 'delete'].filter((code) => codes.includes(code));
  const when = interactions.length === 3 ? '' : interactions.join(' ');
  const words = isKeyOf(moments, when) ? moments[when] : interactions.join(' or ');
  const article = /^[AEIO]/.test(type) ? 'an' : 'a';
  return `When ${article} ${type} is ${words}`;
}

export function expressionOf({ extension = [] }: Subscription): string | undefined {
  return named(extension, expressionName)[0]?.valueString;
}

function named(extension: readonly Extension[], name: string): Extension[] {
  return extension.filter(({ url }) => url?.endsWith(`medplum.com/fhir/StructureDefinition/${name}`));
}

/** One attempt to deliver a change of a record. */
export type DeliveryAttempt = ReturnType<typeof attemptOf>;

/** A delivery with its attempts, newest first. */
export interface AttemptedDelivery {
  id: string;
  attempts: [DeliveryAttempt, ...DeliveryAttempt[]];
}

const kinds: Readonly<Record<string, BadgeKind>> = { '0': 'good', '8': 'waiting' };

/** One page of a Subscription's attempts, newest first. @param next where the page before says that it goes on */
export async function listAttempts(
  api: Api,
  subscriptionId: string,
  { outcome = '', next, signal }: AskedPage & { outcome?: string } = {},
): Promise<LoadedPage<DeliveryAttempt>> {
  const query = queryOf({ _count: '50', outcome });
  const path = next ?? `fhir/R4/Subscription/${subscriptionId}/$deliveries?${query}`;
  const found = await api.get<Bundle<AuditEvent>>(path, signal);
  return { items: resourcesIn(found).map(attemptOf), next: nextOf(found) };
}

/** Those of one delivery together, where its newest attempt is. */
export function byDelivery(attempts: readonly DeliveryAttempt[]): AttemptedDelivery[] {
  const found = new Map<string, AttemptedDelivery>();
  for (const attempt of attempts) {
    const known = found.get(attempt.delivery);
    if (known) known.attempts.push(attempt);
    else found.set(attempt.delivery, { id: attempt.delivery, attempts: [attempt] });
  }
  return [...found.values()];
}

function attemptOf({ id = '', recorded, outcome, outcomeDesc = '', entity }: AuditEvent) {
  const { what, detail = [] } = entity?.[0] ?? {};
  const details = new Map(detail.map(({ type, valueString }) => [type, valueString]));
  return {
    ...{ id, at: recorded, record: what?.reference ?? '', outcome: outcomeDesc },
    delivery: details.get('delivery') ?? '',
    interaction: details.get('interaction') ?? '',
    attempt: Number(details.get('attempt') ?? 1),
    /** How often the delivery was begun anew by hand. */
    redelivery: Number(details.get('redelivery') ?? 0),
    kind: kinds[outcome ?? ''] ?? 'bad',
    durationMs: details.get('durationMs'),
  };
}

const tries = 20;
const pauseMs = 500;

/** Waits for the first attempt of a delivery that was begun anew, for some ten seconds at most. */
export async function untilRedelivered(
  api: Api,
  subscriptionId: string,
  last: DeliveryAttempt,
): Promise<void> {
  for (let tried = 0; tried < tries; tried++) {
    const { items } = await listAttempts(api, subscriptionId);
    const isThere = items.some(
      ({ delivery, redelivery }) => delivery === last.delivery && redelivery > last.redelivery,
    );
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
