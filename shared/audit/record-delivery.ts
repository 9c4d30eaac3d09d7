import type { Actor } from '../access/actor.ts';
import { errorName } from '../error-name.ts';
import type { Resource } from '../fhir/resource.ts';
import type { Services } from '../services.ts';
import { patientsAmong } from './patients-among.ts';

/** Which attempt of which delivery. */
interface Attempt {
  subscriptionId: string;
  deliveryId: string;
  attempt: number;
}

/**
 * Leaves a line in the access log before a record goes to a Bot or an endpoint: nobody asks for it by a request. It is
 * delivered even when this fails; the log then says that it is lost.
 * @param actor the author of the Subscription, in whose name it goes out
 * @param resource with what is hidden from them
 */
export async function recordDelivery(
  services: Pick<Services, 'table' | 'log' | 'accessLog' | 'now'>,
  { project, profile, membershipId }: Pick<Actor, 'project' | 'profile' | 'membershipId'>,
  { subscriptionId, deliveryId, attempt }: Attempt,
  resource: Resource,
): Promise<void> {
  // As in the traceparent that the endpoint is given.
  const traceId = deliveryId.slice(0, 32);
  const patients = await patientsAmong(services, { project, traceId }, [resource]);
  try {
    services.accessLog.write({
      ...{ time: new Date(services.now()).toISOString(), traceId, project },
      ...{ who: profile, membership: membershipId },
      ...{ subscription: `Subscription/${subscriptionId}`, delivery: deliveryId, attempt },
      ...{ resources: [`${resource.resourceType}/${resource.id}`], patients },
    });
  } catch (error) {
    services.log.error('access record lost', { traceId, error: errorName(error) });
  }
}
