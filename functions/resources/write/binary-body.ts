import { type Actor, mayAdminister } from '../../../shared/access/actor.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import type { BinaryContent } from '../../../shared/store/binary-content.ts';
import type { Sent } from './parse-resource.ts';

/**
 * A resource as it was sent. Of a Binary in FHIR JSON the bytes are kept apart; `data` stays too when it
 * has white space.
 */
export function contentOf(sent: Sent): { body: Sent; binary?: BinaryContent } {
  const { data, ...body } = sent;
  if (sent.resourceType !== 'Binary' || typeof data !== 'string') return { body: sent };
  const bytes = Buffer.from(data, 'base64');
  if (bytes.toString('base64') === data) return { body, binary: { bytes } };
  return { body: sent, binary: { bytes } };
}

/** A Binary of bytes as they were sent, with the type that the sender gave them. */
export function rawBinary(contentType: string, securityContext: string | undefined): Sent {
  return {
    resourceType: 'Binary',
    contentType,
    ...(securityContext ? { securityContext: { reference: securityContext } } : {}),
  };
}

/**
 * Bytes that are sent as they are say nothing of labels and context: these stay as they were, or who
 * left a header out would open a closed Binary to others.
 */
export function withKeptElements(raw: Sent, before: Resource | undefined): Sent {
  const { data: _, ...kept } = fieldsOf(before);
  return { ...kept, ...raw };
}

const code = /^(?:text|application)\/(?:x-)?(?:java|type)script\b/i;

/**
 * Code that an administrator keeps here is a Bot's, most likely: administrators' own, as Bots' settings
 * are, unless the sender names another context.
 */
export function withCodeContext(body: Sent, actor: Actor): Sent {
  const { resourceType, contentType, securityContext } = body;
  const isCode = resourceType === 'Binary' && typeof contentType === 'string' && code.test(contentType);
  if (!isCode || securityContext !== undefined || !mayAdminister(actor)) return body;
  return { ...body, securityContext: { reference: `Project/${actor.project}` } };
}
