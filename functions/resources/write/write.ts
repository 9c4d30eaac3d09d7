import type { Actor } from '../../../shared/access/actor.ts';
import type { PatchOperation } from '../../../shared/fhir/json-patch.ts';
import type { PathOperation } from '../../../shared/fhir/path-patch/parse-path-patch.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import type { Stamp } from '../../../shared/fhir/stamp.ts';
import type { Services } from '../../../shared/services.ts';
import type { BinaryContent } from '../../../shared/store/binary-content.ts';
import type { Change } from '../../../shared/store/change.ts';
import type { Item } from '../../../shared/table/item.ts';
import type { Action } from '../../../shared/table/transact.ts';
import type { Sent } from './parse-resource.ts';

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
  | { kind: 'create'; body: Sent; binary?: BinaryContent }
  | {
      kind: 'update';
      body: Sent;
      binary?: BinaryContent;
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
  change: Change | undefined;
  /** The resource that a delete ends. */
  was?: Resource;
  /** Further actions of the same transaction. */
  more: Action[];
  outcome: Outcome;
}

/** What became of a write. */
export interface Outcome {
  kind: 'created' | 'updated' | 'deleted' | 'unchanged';
  type: string;
  id: string;
  /** The state after it; undefined after a delete. */
  resource: Resource | undefined;
  /** The same as the actor may see it; undefined when not at all. */
  shown: Resource | undefined;
}
