import { parseJson } from '../../base/json.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { fieldsOf, isObject } from '../../base/values.ts';
import { type HttpRequest, parseJsonBody } from '../../carry/http/request.ts';
import { type Actor, mayAdminister } from '../../identity/gate/actor.ts';
import { type PatchOperation, parsePatch } from '../../store/fhir/json-patch.ts';
import { type PathOperation, parsePathPatch } from '../../store/fhir/path-patch.ts';

/** A resource as a client sends it: id and meta may be there or not, nothing is checked yet. */
export interface SentResource {
  resourceType: string;
  id?: unknown;
  meta?: unknown;
  [element: string]: unknown;
}

/**
 * The JSON of a request's body. Numbers keep their digits.
 * @throws {Refusal} unsupported-media-type, invalid
 */
export function parseBody({ bytes, headers }: Pick<HttpRequest, 'bytes' | 'headers'>): unknown {
  return parseJsonBody(bytes(), headers['content-type'], parseJson);
}

/** @throws {Refusal} invalid when it is not a resource of this type */
export function requireResource(value: unknown, type: string): SentResource {
  if (!isObject(value) || Array.isArray(value)) {
    throw new Refusal('invalid', 'The body must be a JSON object');
  }
  const { resourceType } = value;
  if (resourceType === type) return value as SentResource;
  throw invalidField('resourceType', `The resourceType must be ${type}, as in the URL`);
}

/**
 * What a patch says: a JSON Patch (RFC 6902), or a FHIRPath Patch, which is a Parameters resource.
 * @throws {Refusal} invalid
 */
export function readPatch(body: unknown): readonly (PatchOperation | PathOperation)[] {
  const sent = fieldsOf(body);
  return sent.resourceType === 'Parameters' ? parsePathPatch(sent) : parsePatch(body);
}

/** @throws {Refusal} invalid when a body names another id than the URL */
export function requireSameId(sent: SentResource, id: string): SentResource {
  if (sent.id === undefined || sent.id === id) return sent;
  throw invalidField(`${sent.resourceType}.id`, 'The id must be that of the URL');
}

/**
 * A resource as it was sent. Of a Binary in FHIR JSON the bytes are kept apart; `data` stays too when it
 * has white space.
 */
export function contentOf(sent: SentResource): { body: SentResource; binary?: Uint8Array } {
  const { data, ...body } = sent;
  if (sent.resourceType !== 'Binary' || typeof data !== 'string') return { body: sent };
  const binary = Buffer.from(data, 'base64');
  return { body: binary.toString('base64') === data ? body : sent, binary };
}

/** A Binary of bytes as they were sent, with the type that the sender gave them. */
export function rawBinary(contentType: string, securityContext: string | undefined): SentResource {
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
export function withKeptElements(raw: SentResource, before: Resource | undefined): SentResource {
  const { data: _, ...kept } = fieldsOf(before);
  return { ...kept, ...raw };
}

const code = /^(?:text|application)\/(?:x-)?(?:java|type)script\b/i;

/**
 * Code that an administrator keeps here is a Bot's, most likely: administrators' own, as Bots' settings
 * are, unless the sender names another context.
 */
export function withCodeContext(body: SentResource, actor: Actor): SentResource {
  const { resourceType, contentType, securityContext } = body;
  const isCode = resourceType === 'Binary' && typeof contentType === 'string' && code.test(contentType);
  if (!isCode || securityContext !== undefined || !mayAdminister(actor)) return body;
  return { ...body, securityContext: { reference: `Project/${actor.project}` } };
}
