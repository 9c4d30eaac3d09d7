import type { Delivery } from '../../shared/subscription/delivery.ts';

/** What every receiver is told; names in lower case. @param delivery with the attempt that is begun */
export function deliveryHeaders(delivery: Delivery): Record<string, string> {
  const { subscriptionId, interaction, deliveryId, attempt, redelivery, type, id } = delivery;
  return {
    'x-medplum-subscription': subscriptionId,
    'x-medplum-interaction': interaction,
    ...(interaction === 'delete' ? { 'x-medplum-deleted-resource': `${type}/${id}` } : {}),
    'x-portico-delivery': deliveryId,
    'x-portico-attempt': String(attempt),
    ...(redelivery > 0 ? { 'x-portico-redelivery': String(redelivery) } : {}),
  };
}
