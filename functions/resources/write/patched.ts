import { hiddenFields } from '../../../shared/access/access.ts';
import type { Actor } from '../../../shared/access/actor.ts';
import { isClosed, withoutFields } from '../../../shared/fhir/fields.ts';
import { stringifyJson } from '../../../shared/fhir/json.ts';
import { requireDepth } from '../../../shared/fhir/json-depth.ts';
import { beginPatch, type PatchOperation, pointerNames } from '../../../shared/fhir/json-patch.ts';
import { patchOperations } from '../../../shared/fhir/path-patch/patch-operations.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { requireResource, type Sent } from './parse-resource.ts';
import { requireSameId } from './same-id.ts';
import type { Located, Write } from './write.ts';

/**
 * What a patch makes of a resource as the actor sees it: no operation tests, copies or moves what is
 * hidden, and one that names it is refused.
 * @throws {Refusal} not-found, gone, forbidden, invalid
 */
export async function patched(
  actor: Actor,
  { type, operations }: Extract<Write, { kind: 'patch' }>,
  { head, resource }: Located,
): Promise<Sent> {
  if (!resource) throw head ? new Refusal('gone', 'Gone') : new Refusal('not-found', 'Not found');
  const hidden = await hiddenFields(actor, 'read', resource);
  if (!hidden) throw new Refusal('forbidden', 'Forbidden');
  const patching = beginPatch(withoutFields(resource, hidden));
  for (const operation of operations) {
    const pointers = 'op' in operation ? [operation] : await patchOperations(patching.value, type, operation);
    if (pointers.some((pointer) => names(pointer, hidden))) throw new Refusal('forbidden', 'Forbidden');
    for (const pointer of pointers) patching.apply(pointer);
  }
  const next = patching.value;
  requireDepth(stringifyJson(next));
  return requireSameId(requireResource(next, type), resource.id);
}

function names({ path, from }: PatchOperation, hidden: readonly string[]): boolean {
  return [path, from ?? '']
    .map((pointer) => pointerNames(pointer).filter((name) => !/^(\d+|-)$/.test(name)))
    .some((steps) => hidden.some((one) => isClosed(one, steps)));
}
