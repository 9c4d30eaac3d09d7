import { parseReference, type Resource, referenceOf } from '../base/resource.ts';
import { isObject } from '../base/values.ts';

/** Who is shown something; before their sign-in has ended there is no token, and by an invitation's link no login. */
export interface Viewer {
  project: string;
  membershipId: string;
  /** `Practitioner/<id>` and the like. */
  profile: string;
  /** Empty for the own app. */
  clientId: string;
  loginId?: string;
}

/** What a request shows to its caller. */
export interface Disclosure {
  /** The resources that were seen to be shown, before anything was hidden; by reference, then by version. */
  whole: Map<string, Map<string, Resource>>;
  /** References of what the answer holds. */
  shown: Set<string>;
  /** What Binaries are part of, by reference, and the Patients whose record that is, as far as it was read. */
  contexts: Map<string, readonly string[]>;
  /** Who sees it, where the route has no caller and has found out itself. */
  viewer?: Viewer;
  /** The Patients that what is shown is about, once that has been looked for. */
  patients?: readonly string[];
  /** How many AuditEvents of what is shown the request has paid for. */
  eventsPaid: number;
  /** Whether what is shown was written by the request, which has an audit entry of its own. */
  isOfChange: boolean;
  /** Whether the caller's Project keeps AuditEvents of what is read; known when they are admitted. */
  isAudited: boolean;
  /** Whether the caller has emergency access; known when they are admitted. */
  isEmergency: boolean;
}

export function newDisclosure(): Disclosure {
  return {
    ...{ whole: new Map(), shown: new Set(), contexts: new Map() },
    ...{ eventsPaid: 0, isOfChange: false, isAudited: false, isEmergency: false },
  };
}

/** Of what is shown without its subject the whole says whose it is. */
export function noteWhole(disclosure: Disclosure | undefined, resource: Resource): void {
  if (!disclosure) return;
  const reference = referenceOf(resource);
  const states = disclosure.whole.get(reference) ?? new Map<string, Resource>();
  disclosure.whole.set(reference, states.set(resource.meta.versionId, resource));
}

/** Notes somebody whom an answer names by a reference, without their record. */
export function noteNamed(disclosure: Disclosure, reference: string): void {
  const target = parseReference(reference);
  if (!target) return;
  const { type, id } = target;
  noteWhole(disclosure, { resourceType: type, id, meta: { versionId: '', lastUpdated: '' } });
  disclosure.shown.add(`${type}/${id}`);
}

/** Notes the resources of an answer: itself, or those of a Bundle and of the Bundles in it. */
export function noteShown(disclosure: Disclosure, body: unknown): void {
  if (!isObject(body)) return;
  const { resourceType, id, meta, entry } = body;
  if (resourceType === 'Bundle' && Array.isArray(entry)) {
    for (const one of entry) if (isObject(one)) noteShown(disclosure, one.resource);
  } else if (typeof id === 'string' && isObject(meta)) {
    // What is not stored, such as an OperationOutcome, has no meta.
    disclosure.shown.add(`${String(resourceType)}/${id}`);
  }
}
