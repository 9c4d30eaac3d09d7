import type { Bot, Bundle, Extension, Subscription } from '@medplum/fhirtypes';
import { isKeyOf } from '../../../shared/typed-keys.ts';
import type { Api } from '../api/use-api.ts';

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
export type When = keyof typeof moments;

/** What a person writes of a new Subscription. */
export interface NewTrigger {
  criteria: string;
  when: When;
  expression: string;
  reason: string;
}

/** Those that wake a Bot. */
export function subscriptionsOf(api: Api, botId: string, signal?: AbortSignal): Promise<Subscription[]> {
  const query = new URLSearchParams({ url: `Bot/${botId}`, _count: '100', _sort: '_id' });
  return api
    .get<Bundle<Subscription>>(`fhir/R4/Subscription?${query}`, signal)
    .then(({ entry = [] }) => entry.flatMap(({ resource }) => resource ?? []));
}

export function createSubscription(api: Api, bot: Bot, trigger: NewTrigger): Promise<Subscription> {
  const { criteria, when, expression, reason } = trigger;
  const extension: Extension[] = [
    ...when
      .split(' ')
      .filter(Boolean)
      .map((valueCode) => ({ url: base + interactionName, valueCode })),
    ...(expression ? [{ url: base + expressionName, valueString: expression }] : []),
  ];
  return api.send('POST', 'fhir/R4/Subscription', {
    resourceType: 'Subscription',
    status: 'active',
    reason,
    criteria,
    channel: { type: 'rest-hook', endpoint: `Bot/${bot.id}`, payload: 'application/fhir+json' },
    ...(extension.length > 0 ? { extension } : {}),
  });
}

/** On or off; on again also after an error. @throws a change by others meanwhile too */
export async function setStatus(api: Api, one: Subscription, status: 'active' | 'off'): Promise<void> {
  await api.fetch(`fhir/R4/Subscription/${one.id}`, {
    method: 'PATCH',
    body: [{ op: 'replace', path: '/status', value: status }],
    contentType: 'application/json-patch+json',
    headers: { 'if-match': `W/"${one.meta?.versionId}"` },
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
