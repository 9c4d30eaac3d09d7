import { jsonBytes } from '../../base/json.ts';
import { longestBodyBytes } from '../../base/limits.ts';
import { invalidField, Refusal, type RefusalIssue } from '../../base/refusal.ts';
import { instantAfter, parseReference, type Resource, type Stamp } from '../../base/resource.ts';
import { readQuery } from '../../base/schema.ts';
import { fieldsOf, isObject, withoutKeys } from '../../base/values.ts';
import { allOk, type OperationOutcome, refusalOutcome } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';
import type { Budget } from '../../carry/table/budget.ts';
import type { Item } from '../../carry/table/item.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { admit } from '../../identity/gate/actor.ts';
import { type PolicyEntry, parsePolicy, variable } from '../../identity/policies/parse-policy.ts';
import { hasElement } from '../../store/fhir/structures.ts';
import { requireValid, unprocessableField } from '../../store/fhir/validate.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { eachPart } from '../../store/index/value.ts';
import { type Packed, packResource, requireInlineSize } from '../../store/items/content.ts';
import { readCriteria } from '../../store/search/search-request.ts';
import { requireResource, requireSameId, type SentResource } from './parse-resource.ts';

const findings = new Set<Refusal['kind']>(['invalid', 'unprocessable', 'too-costly', 'too-large']);

/**
 * R4 operation $validate: what would be said of the resource if it were written; nothing is.
 * @param input.id of the resource that it is to be the next state of
 * @param input.body the resource, or Parameters that hold it
 * @returns an outcome without errors, or one with an issue per fault
 * @throws {Refusal} invalid when there is nothing to validate
 */
export async function validateResource(
  services: Services,
  caller: Caller,
  { type, id, body }: { type: string; id?: string; body: unknown },
): Promise<OperationOutcome> {
  await admit(services, caller, []);
  const sent = requireResource(resourceIn(body), type);
  const { project, profile } = caller;
  const { newId } = services;
  const stamp = { project, nowMs: services.now(), author: { reference: profile }, newId };
  try {
    if (id !== undefined) requireSameId(sent, id);
    await nextState(sent, id ?? newId(), stamp, undefined, services.table.budget);
    return allOk();
  } catch (error) {
    if (error instanceof Refusal && findings.has(error.kind)) return refusalOutcome(error);
    throw error;
  }
}

function resourceIn(body: unknown): unknown {
  const { resourceType, parameter } = fieldsOf(body);
  if (resourceType !== 'Parameters' || !Array.isArray(parameter)) return body;
  const named = new Map(parameter.map((one) => [one?.name, one] as const));
  if (named.has('profile'))
    throw invalidField('profile', 'Only the definitions of R4 itself can be asked for');
  return named.get('resource')?.resource;
}

/** Elements of a client that only the admin endpoints set; what is sent of them is dropped. */
const clientSecrets = ['secret', 'retiringSecret'];
/** Elements of meta that are ours to say. */
const ownedMeta = new Set(['versionId', 'lastUpdated', 'project', 'author', 'onBehalfOf', 'compartment']);

/**
 * The resource as it will be stored: what was sent, under its id, with meta of our own.
 * @param before the state that it follows, so that time never runs backwards
 * @param budget of the request, for what is long to check
 * @throws {Refusal} invalid, unprocessable (R4), too-large, too-costly
 */
export async function nextState(
  sent: SentResource,
  id: string,
  stamp: Stamp,
  before: Item | undefined,
  budget: Budget,
): Promise<{ resource: Resource; packed: Packed }> {
  const isOurs = (name: string) => sent.resourceType === 'ClientApplication' && clientSecrets.includes(name);
  const { resourceType, id: _sentId, meta, ...elements } = withoutKeys(sent, isOurs);
  const kept = metaOf(meta);
  const checked = { resourceType, id, ...(kept ? { meta: kept } : {}), ...elements };
  await requireValid(checked, (comparisons) => budget.spend('comparisons', comparisons));
  requireOwnProject(checked, stamp.project);
  if (resourceType === 'AccessPolicy') {
    // Before its criteria are read.
    requireInlineSize(resourceType, jsonBytes(checked));
    await requireSoundPolicy(checked);
  }
  const { project, author } = stamp;
  const lastUpdated = instantAfter(before?.lastUpdated, stamp.nowMs);
  const own = { versionId: stamp.newId(), lastUpdated, project, author };
  const resource: Resource = { resourceType, id, meta: { ...fieldsOf(kept), ...own }, ...elements };
  const packed = packResource(project, resource);
  if (packed.sizeBytes > longestBodyBytes)
    throw new Refusal('too-large', 'The resource is longer than 4 MiB');
  return { resource, packed };
}

/** @throws {Refusal} unprocessable for what would else be lost in silence */
function metaOf(meta: unknown): unknown {
  if (!isObject(meta) || Array.isArray(meta)) return meta;
  const account = ['account', 'accounts'].find((name) => Object.hasOwn(meta, name));
  if (account !== undefined) {
    const text = `meta.${account} is not supported: refer to the account in the resource, or label it by meta.tag`;
    throw unprocessableField(`meta.${account}`, text);
  }
  const all = Object.entries(meta);
  const kept = all.filter(([name]) => !ownedMeta.has(name));
  // Empty as it was sent, it is not valid.
  return kept.length > 0 || all.length === 0 ? Object.fromEntries(kept) : undefined;
}

/** Ids lead nowhere but into the caller's own Project; naming another one is a mistake or an attempt. */
function requireOwnProject(value: unknown, project: string): void {
  eachPart(value, ({ reference }, at) => {
    const target = parseReference(reference);
    if (target?.type === 'Project' && target.id !== project)
      throw invalidField(`${at}.reference`.slice(1), 'References to another project are not allowed');
  });
}

/** A policy whose entries cannot be understood would grant nothing, silently. @throws {Refusal} invalid */
async function requireSoundPolicy(policy: object): Promise<void> {
  const issues: RefusalIssue[] = [];
  const entries = parsePolicy(policy, (expression, text) => issues.push({ expression, text }));
  // Positions are right only when every entry was understood.
  if (issues.length === 0) {
    for (const [i, entry] of entries.entries()) issues.push(...(await faultsOf(entry, `resource[${i}]`)));
  }
  if (issues.length > 0) throw new Refusal('invalid', 'The access policy is not valid', { issues });
}

async function faultsOf(entry: PolicyEntry, at: string): Promise<RefusalIssue[]> {
  const { resourceType: type, criteria } = entry;
  if (type !== '*' && !isResourceType(type)) {
    return [{ expression: `${at}.resourceType`, text: `${type} is not a resource type` }];
  }
  const issues: RefusalIssue[] = [];
  const fault = criteria === undefined ? undefined : faultOf(type, criteria);
  if (fault !== undefined) issues.push({ expression: `${at}.criteria`, text: fault });
  for (const name of ['hiddenFields', 'readonlyFields'] as const) {
    for (const path of type === '*' ? [] : entry[name]) {
      if (await hasElement(type, path)) continue;
      issues.push({ expression: `${at}.${name}`, text: `${type} has no element ${path}` });
    }
  }
  return issues;
}

function faultOf(type: string, criteria: string): string | undefined {
  const [of, query = ''] = criteria.split(/\?(.*)/s);
  if (of !== type) return `The criteria must be a search of ${type}, ${type}?…`;
  const names = criteria.match(variable) ?? [];
  // `%c3` would be a variable that nobody set.
  if (names.some((name) => /^%[0-9a-f]{2}$/i.test(name))) return 'Write characters as they are, not as %xx';
  // Variables get their values at run time; a date stands for whatever fits its parameter.
  const filled = query.replace(variable, '2000');
  if ([...readQuery(filled).values()].includes('')) return 'A parameter of the criteria has no value';
  try {
    readCriteria(type === '*' ? 'Resource' : type, filled);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.issues[0]?.text ?? error.message;
  }
}
