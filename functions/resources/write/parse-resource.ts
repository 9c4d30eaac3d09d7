import { parseJson } from '../../../shared/fhir/json.ts';
import { type PatchOperation, parsePatch } from '../../../shared/fhir/json-patch.ts';
import { type PathOperation, parsePathPatch } from '../../../shared/fhir/path-patch/parse-path-patch.ts';
import { fieldsOf, isObject } from '../../../shared/fields-of.ts';
import { parseJsonBody } from '../../../shared/http/json-body.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';

/** A resource as a client sends it: id and meta may be there or not, nothing is checked yet. */
export interface Sent {
  resourceType: string;
  id?: unknown;
  meta?: unknown;
  [element: string]: unknown;
}

/**
 * The JSON of a request's body. Numbers keep their digits.
 * @throws {Refusal} unsupported-media-type, invalid
 */
export function parseBody(bytes: Buffer | undefined, contentType: string | undefined): unknown {
  return parseJsonBody(bytes, contentType, parseJson);
}

/** @throws {Refusal} invalid when it is not a resource of this type */
export function requireResource(value: unknown, type: string): Sent {
  if (!isObject(value) || Array.isArray(value)) {
    throw new Refusal('invalid', 'The body must be a JSON object');
  }
  if (!isOfType(value, type)) {
    throw invalidField('resourceType', `The resourceType must be ${type}, as in the URL`);
  }
  return value;
}

function isOfType(value: Record<string, unknown>, type: string): value is Sent {
  return value.resourceType === type;
}

/**
 * What a patch says: a JSON Patch (RFC 6902), or a FHIRPath Patch, which is a Parameters resource.
 * @throws {Refusal} invalid
 */
export function readPatch(body: unknown): readonly (PatchOperation | PathOperation)[] {
  const sent = fieldsOf(body);
  return sent.resourceType === 'Parameters' ? parsePathPatch(sent) : parsePatch(body);
}
