import { requireModest, stringifyJson } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';
import type { Resource, Stamp } from '../../base/resource.ts';
import type { HttpRequest } from '../../carry/http/request.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import type { Action } from '../../carry/table/transact.ts';
import type { Actor } from '../../identity/gate/actor.ts';
import { hiddenFields } from '../../identity/policies/access.ts';
import { isClosed, withoutEmpty, withoutFields } from '../../store/fhir/fields.ts';
import { beginPatch, type PatchOperation, pointerNames } from '../../store/fhir/json-patch.ts';
import { type PathOperation, patchOperations } from '../../store/fhir/path-patch.ts';
import type { ResourceChange } from '../../store/items/change.ts';
import {
  contentOf,
  parseBody,
  rawBinary,
  readPatch,
  requireResource,
  requireSameId,
  type SentResource,
} from './parse-resource.ts';

/** One change that a client asks for, as a request of its own or as an entry of a Bundle. */
export type Write = {
  type: string;
  /** Which resource; undefined for a create, and where `query` says it. */
  id?: string;
  /** R4 conditional interactions: the search that names the resource. */
  query?: string;
  ifMatch?: string;
  /** Wakes no Subscription. */
  isQuiet?: boolean;
} & (
  | { kind: 'create'; body: SentResource; binary?: Uint8Array }
  | {
      kind: 'update';
      body: SentResource;
      binary?: Uint8Array;
      /** Of a Binary: only bytes and their type were sent. */
      isRaw?: boolean;
      ifNoneMatch?: string;
    }
  | { kind: 'patch'; operations: readonly (PatchOperation | PathOperation)[] }
  | { kind: 'delete' }
);

/** The resource that a write is about, as it stands. */
export interface Located {
  id: string;
  /** Its head, a tombstone too; undefined when it never existed. */
  head: Item | undefined;
  /** Undefined when it does not exist or was deleted. */
  resource: Resource | undefined;
  /** Makes two conditional creates of one condition exclude each other. */
  lock: Action[];
}

/** What every plan works with; nothing in it changes while the plan is made. */
export interface Context {
  services: Services;
  actor: Actor;
  stamp: Stamp;
}

/** A write decided: what is to be written, and what will be answered. */
export interface Planned {
  change: ResourceChange | undefined;
  was?: Resource;
  /** Further actions of the same transaction. */
  more: Action[];
  outcome: WriteOutcome;
}

/** What became of a write. */
export interface WriteOutcome {
  kind: 'created' | 'updated' | 'deleted' | 'unchanged';
  type: string;
  id: string;
  /** The state after it; undefined after a delete. */
  resource: Resource | undefined;
  /** The same as the actor may see it; undefined when not at all. */
  shown: Resource | undefined;
}

/** Where a write leads: to a type, to one resource by its id, or by a search. */
type WriteTarget = Pick<Write, 'type' | 'id' | 'query'>;

/** What a write says of the state that it is for (R4 http); anything but text says nothing. */
export interface Conditions {
  ifMatch?: unknown;
  ifNoneMatch?: unknown;
  ifNoneExist?: unknown;
}

interface Reading {
  content(): Omit<Extract<Write, { kind: 'update' }>, 'kind' | 'type'>;
  operations(): Extract<Write, { kind: 'patch' }>['operations'];
}

/** A write of a request or of an entry of a Bundle. @throws {Refusal} invalid, unsupported-media-type */
export function writeOf(
  kind: Write['kind'],
  target: WriteTarget,
  { ifMatch, ifNoneMatch, ifNoneExist }: Conditions,
  sent: Reading,
): Write {
  const match = typeof ifMatch === 'string' ? { ifMatch } : {};
  switch (kind) {
    case 'create': {
      const condition = typeof ifNoneExist === 'string' ? { query: ifNoneExist.replace(/^\?/, '') } : {};
      return { kind, type: target.type, ...condition, ...sent.content() };
    }
    case 'update': {
      const content = sent.content();
      if (target.id !== undefined) requireSameId(content.body, target.id);
      const none = typeof ifNoneMatch === 'string' ? { ifNoneMatch } : {};
      return { kind, ...target, ...match, ...none, ...content };
    }
    case 'patch':
      return { kind, ...target, ...match, operations: sent.operations() };
    case 'delete':
      return { kind, ...target, ...match };
  }
}

/**
 * The write that a request asks for: of the resource with that id, else by the search in its query string.
 * @throws {Refusal} invalid, unsupported-media-type
 */
export function parseWrite(
  kind: Write['kind'],
  type: string,
  id: string | undefined,
  request: HttpRequest,
): Write {
  const { headers, query } = request;
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch, 'if-none-exist': ifNoneExist } = headers;
  const target = id === undefined ? { type, query: query.toString() } : { type, id };
  return writeOf(
    kind,
    target,
    { ifMatch, ifNoneMatch, ifNoneExist },
    {
      content: () => parseContent(type, request, id),
      operations: () => readPatch(parseBody(request)),
    },
  );
}

/** A resource as JSON, or the bytes of a Binary under whatever type they have. */
function parseContent(type: string, request: HttpRequest, id?: string) {
  const contentType = request.headers['content-type'];
  if (type === 'Binary' && !/^application\/fhir\+json\b/i.test(contentType ?? '')) {
    if (!contentType) throw new Refusal('unsupported-media-type', 'A Binary needs a Content-Type');
    const body = rawBinary(contentType, request.headers['x-security-context']);
    return {
      body: id === undefined ? body : { ...body, id },
      binary: request.bytes() ?? Buffer.alloc(0),
      isRaw: true,
    };
  }
  return contentOf(requireResource(parseBody(request), type));
}

/** What it takes to look at an element on the way of a FHIRPath, in comparisons. */
const comparisonsOfElement = 8;

/**
 * What a patch makes of a resource as the actor sees it: no operation tests, copies or moves what is
 * hidden, and one that names it is refused.
 * @returns what it says, and what in it was taken empty: that is left out once what is hidden is there again
 * @throws {Refusal} forbidden, invalid, precondition-failed, too-costly
 */
export async function patched(
  actor: Actor,
  { type, operations }: Extract<Write, { kind: 'patch' }>,
  resource: Resource,
): Promise<{ body: SentResource; emptied: WeakSet<object> }> {
  const hidden = await hiddenFields(actor, 'read', resource);
  if (!hidden) throw new Refusal('forbidden', 'Forbidden');
  const compare = (values: number) => actor.budget.spend('comparisons', values);
  const patching = beginPatch(withoutFields(withoutEmpty(resource), hidden), compare);
  const spend = (elements: number) => compare(elements * comparisonsOfElement);
  for (const operation of operations) {
    const pointers =
      'op' in operation ? [operation] : await patchOperations(patching.value, type, operation, spend);
    if (pointers.some((pointer) => names(pointer, hidden))) throw new Refusal('forbidden', 'Forbidden');
    for (const pointer of pointers) patching.apply(pointer);
  }
  const next = patching.value;
  requireModest(stringifyJson(next));
  return { body: requireSameId(requireResource(next, type), resource.id), emptied: patching.emptied };
}

function names({ path, from }: PatchOperation, hidden: readonly string[]): boolean {
  return [path, from ?? '']
    .map((pointer) => pointerNames(pointer).filter((name) => !/^(\d+|-)$/.test(name)))
    .some((steps) => hidden.some((one) => isClosed(one, steps)));
}
