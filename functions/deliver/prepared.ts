import type { Actor } from '../../shared/access/actor.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import type { Delivery } from '../../shared/subscription/delivery.ts';
import type { Verdict } from './verdict.ts';

/** A delivery that can be attempted. */
export interface Prepared {
  /** The author of the Subscription. */
  actor: Actor;
  /** Whether the record goes along. */
  sendsRecord: boolean;
  /** The attempt takes so long at most. */
  longestMs: number;
  /** @param delivery with the attempt that is begun @param seen what the author may see of the record */
  send(delivery: Delivery, seen: Resource): Promise<Verdict>;
}
