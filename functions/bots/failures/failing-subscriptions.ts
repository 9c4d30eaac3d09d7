import type { Reference } from '../../../shared/fhir/resource.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import type { Reader } from '../../../shared/search/reader.ts';
import { runSearch } from '../../../shared/search/run-search.ts';
import { parseSearch } from '../../../shared/search/search-request.ts';
import { attemptOf } from '../../../shared/subscription/attempt.ts';
import { keys } from '../../../shared/table/keys.ts';
import { countFailures, type FailureCount, referenceTo, type Within } from './count-failures.ts';

/** As many as a Project has unless it was given more; each costs a query. */
const mostSubscriptions = 100;

export interface FailingSubscription extends FailureCount {
  subscription: Reference;
  /** `error` when the service has stopped it. */
  status: string;
  error?: string;
  /** `Bot/<id>` or a URL. */
  endpoint?: string;
}

/** The Subscriptions that the service has stopped, or of which a delivery since then has failed. */
export async function failingSubscriptions(
  within: Within,
): Promise<{ failing: FailingSubscription[]; isAll: boolean }> {
  const { table, project } = within;
  const reader: Reader = { table, project, see: async (resource) => resource };
  const search = new URLSearchParams({ _count: String(mostSubscriptions) });
  const { resources, next } = await runSearch(reader, parseSearch('Subscription', search));
  const failing = await Promise.all(
    resources.map(async (subscription) => {
      const { id, error, reason, channel } = subscription;
      const status = String(subscription.status);
      if (status === 'off') return [];
      const list = { pk: keys.attempt(project, id, '').pk };
      const { latest: _, ...count } = await countFailures(within, [list], ['content'], (item) => {
        const { outcome, recorded, entity } = attemptOf(item);
        return { id: deliveryOf(entity), isFailed: outcome === '4', at: String(recorded) };
      });
      if (count.failed === 0 && status !== 'error') return [];
      const { endpoint } = fieldsOf(channel);
      return [
        {
          ...{ subscription: referenceTo(subscription, reason), status, ...count },
          ...(status === 'error' && typeof error === 'string' ? { error } : {}),
          ...(typeof endpoint === 'string' ? { endpoint } : {}),
        },
      ];
    }),
  );
  return { failing: failing.flat(), isAll: next === undefined };
}

function deliveryOf(entity: unknown): string {
  const details = (entity as { detail?: { type: string; valueString: string }[] }[])[0]?.detail ?? [];
  return details.find(({ type }) => type === 'delivery')?.valueString ?? '';
}
