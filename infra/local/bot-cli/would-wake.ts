import { randomUUID } from 'node:crypto';
import { evaluate } from '../../../functions/match/evaluate.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { createSandbox } from '../../../shared/sandbox/supervisor.ts';
import { matchesAll } from '../../../shared/search/filter.ts';
import type { Interaction } from '../../../shared/subscription/change.ts';
import { parseSubscription } from '../../../shared/subscription/subscription.ts';
import { cachedGuest } from '../../guest/build.ts';

export interface Change {
  interaction: Interaction;
  /** Of a deletion the record as it was. */
  current: Resource;
  previous: Resource | undefined;
}

/**
 * Asks, by the service's own code, whether a Subscription is woken by a change that everybody may see.
 * @throws {Refusal} saying why not, or what is wrong with the Subscription
 */
export async function requireWoken(resource: Resource, { interaction, current, previous }: Change) {
  const { filters, expression, type, interactions } = parseSubscription(resource, true);
  if (!interactions.includes(interaction)) throw notWoken(`it does not ask for ${interaction}`);
  if (current.resourceType !== type || !matchesAll(current, filters)) throw notWoken('its criteria');
  if (expression === undefined) return;
  const sandbox = createSandbox({ guestDir: await cachedGuest() });
  try {
    const evaluator = {
      invoke: async (request: Parameters<typeof sandbox.run>[0]) => ({
        ...{ kind: 'result' as const, result: await sandbox.run(request) },
      }),
    };
    const services = { evaluator, now: Date.now, newId: randomUUID };
    const met = await evaluate(services, 'local', expression, { current, previous });
    if ('failed' in met) throw notWoken(met.failed);
    if (!met.isMet) throw notWoken('its expression');
  } finally {
    await sandbox.close();
  }
}

function notWoken(reason: string): Refusal {
  return new Refusal('invalid', `Not woken: ${reason}`);
}
