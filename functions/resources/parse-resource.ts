import { parseJson } from '../../shared/fhir/json.ts';
import { deepestJson, isDeeperThan } from '../../shared/fhir/json-depth.ts';
import { decodeUtf8 } from '../../shared/http/request.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';

/** A resource as a client sends it: id and meta may be there or not, nothing is checked yet. */
export interface Sent {
  resourceType: string;
  id?: unknown;
  meta?: unknown;
  [element: string]: unknown;
}

const json = /^application\/(?:[a-z0-9.-]+\+)?json$/;

/**
 * The JSON of a request's body. Numbers keep their digits.
 * @throws {Refusal} unsupported-media-type, invalid
 */
export function parseBody(bytes: Buffer | undefined, contentType: string | undefined): unknown {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.find((one) => one.trim().startsWith('charset='))?.split('=')[1];
  if (!json.test(type.trim()) || (charset && !/^"?(utf-8|us-ascii)"?$/.test(charset.trim()))) {
    throw new Refusal('unsupported-media-type', 'Content-Type must be application/fhir+json');
  }
  const text = bytes === undefined ? '' : decodeUtf8(bytes);
  requireDepth(text);
  try {
    return parseJson(text);
  } catch {
    throw new Refusal('invalid', 'Content could not be parsed');
  }
}

/** @throws {Refusal} invalid when JSON nests deeper than SPEC section 9 allows */
export function requireDepth(text: string): void {
  if (isDeeperThan(text, deepestJson)) {
    throw new Refusal('invalid', `JSON deeper than ${deepestJson} levels`);
  }
}

/** @throws {Refusal} invalid when it is not a resource of this type */
export function requireResource(value: unknown, type: string): Sent {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('invalid', 'The body must be a JSON object');
  }
  const { resourceType } = value as Sent;
  if (resourceType !== type) {
    throw invalidField('resourceType', `The resourceType must be ${type}, as in the URL`);
  }
  return value as Sent;
}
