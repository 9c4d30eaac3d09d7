import { Refusal } from '../../../shared/refusal.ts';
import type { Sent } from './parse-resource.ts';

/** @throws {Refusal} invalid when a body names another id than the URL */
export function requireSameId(sent: Sent, id: string): Sent {
  if (sent.id === undefined || sent.id === id) return sent;
  throw new Refusal('invalid', 'The id must be that of the URL', {
    issues: [{ text: 'The id must be that of the URL', expression: `${sent.resourceType}.id` }],
  });
}
