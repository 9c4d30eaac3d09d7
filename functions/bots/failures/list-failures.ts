import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { invalidField } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { type FailingBot, failingBots, type RanBot } from './failing-bots.ts';
import { type FailingSubscription, failingSubscriptions } from './failing-subscriptions.ts';

const dayMs = 86_400_000;

export interface Failures {
  /** ISO 8601: what is older is not looked at. */
  since: string;
  bots: FailingBot[];
  /** The Bots that ran at all. */
  ran: RanBot[];
  subscriptions: FailingSubscription[];
  /** False where more Bots ran, or there are more Subscriptions, than are looked at. */
  complete: boolean;
}

/**
 * The Bots that ran in the last 24 hours, those whose runs failed, and the Subscriptions whose deliveries did or which the service
 * has stopped. It looks at the 20 latest of each, of 50 Bots and 100 Subscriptions.
 * @throws {Refusal} forbidden, invalid
 */
export async function listFailures(
  services: Services,
  caller: Caller<'administrator'>,
  query: URLSearchParams,
): Promise<Failures> {
  for (const name of query.keys()) throw invalidField(name, `Unknown parameter ${name}`);
  await admit(services, caller, []);
  const since = new Date(services.now() - dayMs).toISOString();
  const within = { table: services.table, project: caller.project, since };
  const [bots, subscriptions] = await Promise.all([failingBots(within), failingSubscriptions(within)]);
  return {
    since,
    bots: bots.failing,
    ran: bots.ran,
    subscriptions: subscriptions.failing,
    complete: bots.isAll && subscriptions.isAll,
  };
}
