import { parseReference, type Resource } from '../../../shared/fhir/resource.ts';
import type { Stamp } from '../../../shared/fhir/stamp.ts';
import { requireValid } from '../../../shared/fhir/validate.ts';
import { fieldsOf, isObject } from '../../../shared/fields-of.ts';
import { longestBodyBytes } from '../../../shared/limits.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import { type Packed, packResource } from '../../../shared/store/content.ts';
import type { Item } from '../../../shared/table/item.ts';
import { requireSoundPolicy } from './access-policy.ts';
import { withoutServerOwned } from './own-rules.ts';
import type { Sent } from './parse-resource.ts';

/** Elements of meta that are ours to say. */
const ownedMeta = new Set(['versionId', 'lastUpdated', 'project', 'author', 'onBehalfOf', 'compartment']);

/**
 * The resource as it will be stored: what was sent, under its id, with meta of our own.
 * @param before the state that it follows, so that time never runs backwards
 * @throws {Refusal} invalid, unprocessable (R4), too-large
 */
export async function nextState(
  sent: Sent,
  id: string,
  stamp: Stamp,
  before: Item | undefined,
): Promise<{ resource: Resource; packed: Packed }> {
  const { resourceType, id: _sentId, meta, ...elements } = withoutServerOwned(sent.resourceType, sent);
  const kept = metaOf(meta);
  const checked = { resourceType, id, ...(kept ? { meta: kept } : {}), ...elements };
  await requireValid(checked);
  requireOwnProject(checked, stamp.project);
  if (resourceType === 'AccessPolicy') await requireSoundPolicy(checked);

  const resource: Resource = {
    resourceType,
    id,
    meta: {
      ...fieldsOf(kept),
      versionId: stamp.newId(),
      lastUpdated: instantAfter(before?.lastUpdated, stamp.nowMs),
      project: stamp.project,
      author: stamp.author,
    },
    ...elements,
  };
  const packed = packResource(stamp.project, resource);
  if (packed.sizeBytes > longestBodyBytes)
    throw new Refusal('too-large', 'The resource is longer than 4 MiB');
  return { resource, packed };
}

/** Now, or a millisecond after the state before when another machine's clock was ahead. */
export function instantAfter(before: unknown, nowMs: number): string {
  const atLeast = typeof before === 'string' ? Date.parse(before) + 1 : 0;
  return new Date(Math.max(nowMs, atLeast)).toISOString();
}

/** @throws {Refusal} unprocessable for what would else be lost in silence */
function metaOf(meta: unknown): unknown {
  if (!isObject(meta) || Array.isArray(meta)) return meta;
  const account = ['account', 'accounts'].find((name) => Object.hasOwn(meta, name));
  if (account !== undefined) {
    const text = `meta.${account} is not supported: refer to the account in the resource, or label it by meta.tag`;
    throw new Refusal('unprocessable', text, { issues: [{ text, expression: `meta.${account}` }] });
  }
  const kept = Object.entries(meta).filter(([name]) => !ownedMeta.has(name));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Ids lead nowhere but into the caller's own Project; naming another one is a mistake or an attempt. */
function requireOwnProject(value: unknown, project: string, at = ''): void {
  if (!isObject(value)) return;
  for (const [name, part] of Object.entries(value)) {
    const path = Array.isArray(value) ? `${at}[${name}]` : at ? `${at}.${name}` : name;
    const target = name === 'reference' ? parseReference(part) : undefined;
    if (target?.type === 'Project' && target.id !== project) {
      throw invalidField(path, 'References to another project are not allowed');
    }
    requireOwnProject(part, project, path);
  }
}
