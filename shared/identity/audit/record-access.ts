import { inChunks } from '../../base/in-parallel.ts';
import { isAdministrative, parseReference, type Resource } from '../../base/resource.ts';
import { errorName, fieldsOf } from '../../base/values.ts';
import { type Disclosure, newDisclosure, noteShown, noteWhole, type Viewer } from '../../carry/disclosure.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { patientsOf } from '../../store/index/key-range.ts';
import { standingState } from '../../store/items/versions.ts';
import type { Claims } from '../gate/access-token.ts';
import type { Actor } from '../gate/actor.ts';
import { type Audited, agentOfCaller } from './audit-event.ts';
import { record } from './record.ts';

/** FHIR restful-interaction of the routes by which records are read, and of those whose answers may show what is there. */
const interactions = {
  'GET /fhir/R4/{resourceType}/{id}': 'read',
  'GET /fhir/R4/{resourceType}/{id}/_history/{versionId}': 'vread',
  'GET /fhir/R4/{resourceType}/{id}/_history': 'history-instance',
  'GET /fhir/R4/{resourceType}/_history': 'history-type',
  'GET /fhir/R4/_history': 'history-system',
  'GET /fhir/R4/{resourceType}': 'search-type',
  'POST /fhir/R4/{resourceType}/_search': 'search-type',
  'GET /fhir/R4/Patient/{id}/{resourceType}': 'search-type',
  'POST /fhir/R4/Patient/{id}/{resourceType}/_search': 'search-type',
  'GET /fhir/R4': 'search-system',
  'POST /fhir/R4/_search': 'search-system',
  'GET /fhir/R4/Patient/{id}/$everything': 'operation',
  'POST /fhir/R4/Patient/{id}/$everything': 'operation',
  'GET /fhir/R4/bulkdata/export/{id}/{file}': 'operation',
  'POST /fhir/R4/ProjectMembership/{id}/$explain': 'operation',
  'GET /auth/me': 'operation',
  'POST /auth/login': 'operation',
  'POST /auth/profile': 'operation',
  'POST /auth/mfa/verify': 'operation',
  'POST /auth/mfa/login-enroll': 'operation',
  'POST /auth/invitation': 'operation',
  'GET /admin/projects/{projectId}/members': 'search-type',
  'GET /admin/projects/{projectId}/members/{membershipId}': 'read',
  'POST /fhir/R4': 'batch',
  'POST /fhir/R4/{resourceType}': 'create',
  'PUT /fhir/R4/{resourceType}/{id}': 'update',
  'PUT /fhir/R4/{resourceType}': 'update',
  'PATCH /fhir/R4/{resourceType}/{id}': 'patch',
  'PATCH /fhir/R4/{resourceType}': 'patch',
} as const;

const compartment = 'GET /fhir/R4/Patient/{id}/{resourceType}';

/** Undefined for a route that reads no records. */
function interactionOf({ route, params }: Pick<Answered, 'route' | 'params'>): string | undefined {
  // API Gateway may find the search of a compartment for the history of a Patient.
  const isHistory = route === compartment && params.resourceType === '_history';
  if (isHistory) return 'history-instance';
  return Object.entries(interactions).find(([key]) => key === route)?.[1];
}

/** The Patients whose records some resources are, by reference; a Binary is of those of what it is part of. */
function patientsAmong(disclosure: Disclosure): string[] {
  const of = (one: Resource) => [
    ...patientsOf(one),
    ...(disclosure.contexts.get(contextOf(one) ?? '') ?? []),
  ];
  return [...new Set(statesShown(disclosure).flatMap(of))];
}

function statesShown({ shown, whole }: Disclosure): Resource[] {
  return [...shown].flatMap((reference) => [...(whole.get(reference)?.values() ?? [])]);
}

/** What cannot be recorded is not: the log says so. */
async function orLost({ log }: Pick<Services, 'log'>, traceId: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error('access record lost', { traceId, error: errorName(error) });
  }
}

/** What a Binary is part of (R4 Binary.securityContext). One that names a Patient says by itself whose it is. */
function contextOf({ resourceType, securityContext }: Resource): string | undefined {
  const target = resourceType === 'Binary' && parseReference(fieldsOf(securityContext).reference);
  return target && !['Patient', 'Binary'].includes(target.type) ? `${target.type}/${target.id}` : undefined;
}

/** Each may be as large as a resource may be. */
const contextsAtOnce = 10;

/**
 * Reads whose records the Binaries that a request shows are, where the gate has not: what they are part of was deleted,
 * or stands in an export. Where that cannot be read the log says so, and the others are named.
 */
async function readContexts(
  services: Pick<Services, 'table' | 'log'>,
  { project, traceId }: { project: string; traceId: string },
  disclosure: Disclosure,
): Promise<void> {
  const { table } = services;
  const { contexts } = disclosure;
  const missing = new Set(statesShown(disclosure).flatMap((one) => contextOf(one) ?? []));
  for (const known of contexts.keys()) missing.delete(known);
  const read = async (reference: string) => {
    const { type = '', id = '' } = parseReference(reference) ?? {};
    const head = await readItem(table, keys.resource(project, type, id));
    const state = head && (await standingState(table, head));
    if (state) contexts.set(reference, [...patientsOf(state.resource)]);
  };
  await orLost(services, traceId, async () => {
    for (const some of inChunks([...missing], contextsAtOnce)) await Promise.all(some.map(read));
  });
}

const exportedFile: keyof typeof interactions = 'GET /fhir/R4/bulkdata/export/{id}/{file}';

/**
 * What the record of an answer takes is of its request and its budget, before it is sent.
 * @throws {Refusal} too-costly where more is shown than can be recorded; of a request that has written something, and of a
 *   file of an export, which cannot be fetched in parts, those entries are lost, and the log says so
 */
export async function prepareRecord(
  services: Pick<Services, 'table' | 'log'>,
  { project }: Pick<Who, 'project'>,
  answered: Pick<Answered, 'route' | 'params' | 'traceId' | 'disclosure'>,
): Promise<void> {
  const { traceId, disclosure } = answered;
  await readContexts(services, { project, traceId }, disclosure);
  const { budget } = services.table;
  const patients = patientsAmong(disclosure);
  disclosure.patients = patients;
  const pay = () => {
    for (const entities of eventsOf(answered, patients)) {
      // Each is found by all that it names.
      budget.spend('items', 1 + entities.length);
      disclosure.eventsPaid += 1;
    }
  };
  if (budget.spent.writes > 0 || answered.route === exportedFile) return orLost(services, traceId, pay);
  try {
    pay();
  } catch (error) {
    // Nothing is shown, then.
    disclosure.shown.clear();
    Object.assign(disclosure, { eventsPaid: 0, patients: [] });
    throw error;
  }
}

/** Who was answered: by a token, or on the way to one. */
type Who = Viewer & Pick<Claims, 'run'>;

/** A request that has been answered, as far as the record tells of it. */
interface Answered {
  /** As in the route table, with names for ids. */
  route: string;
  params: Readonly<Record<string, string>>;
  status: number;
  traceId: string;
  receivedAtMs: number;
  disclosure: Disclosure;
  /** Where it came from, encrypted. */
  source?: string;
}

/** References in one line: a log takes no longer ones than 256 KB. */
const mostInLine = 1_000;

/**
 * Leaves who called and what they were shown: as a line in the access log, and as AuditEvents where the Project keeps
 * those, and of who has emergency access always. The answer stands even when this fails; the log then says that it is lost.
 * @param caller undefined for nobody who is known
 */
export async function recordAccess(
  services: Services,
  caller: Who | undefined,
  answered: Answered,
): Promise<void> {
  const { traceId, disclosure } = answered;
  const patients = disclosure.patients ?? patientsAmong(disclosure);
  await orLost(services, traceId, () => writeLines(services, caller, answered, patients));
  if (caller) await keepEvents(services, caller, answered, patients);
}

/** @param patients whom what was shown is about */
function writeLines(
  { accessLog, now }: Services,
  caller: Who | undefined,
  { route, params, status, traceId, receivedAtMs, source, disclosure }: Answered,
  patients: readonly string[],
): void {
  const atMs = now();
  const shown = [...disclosure.shown];
  const interaction = interactionOf({ route, params });
  const line = {
    ...{ time: new Date(atMs).toISOString(), traceId, route, status, ms: atMs - receivedAtMs },
    ...(source === undefined ? {} : { source }),
    ...(caller ? actorOf(caller) : {}),
    ...(interaction ? { interaction } : {}),
    ...(disclosure.isEmergency ? { purpose: 'BTG' } : {}),
  };
  const parts = Math.ceil(Math.max(shown.length, patients.length) / mostInLine) || 1;
  for (let part = 0; part < parts; part += 1) {
    const within = (all: readonly string[]) => all.slice(part * mostInLine, (part + 1) * mostInLine);
    accessLog.write({
      ...line,
      ...(parts > 1 ? { part: part + 1, parts } : {}),
      ...(shown.length > 0 ? { resources: within(shown), patients: within(patients) } : {}),
    });
  }
}

function actorOf({ project, profile, membershipId, clientId, loginId, run }: Who) {
  return {
    ...{ project, who: profile, membership: membershipId },
    ...(run ? { run: run.id, root: run.root } : { client: clientId, login: loginId }),
    ...(run?.within ? { inNameOf: run.within.map((one) => one.profile) } : {}),
  };
}

/** Interactions whose answers hold one record. */
const ones: ReadonlySet<string> = new Set(['read', 'vread', 'create', 'update', 'patch']);

/** An AuditEvent names no more. */
const mostPatients = 100;

/** What each AuditEvent of an answer names; none where none is kept. */
function eventsOf(
  { route, params, disclosure }: Pick<Answered, 'route' | 'params' | 'disclosure'>,
  patients: readonly string[],
): Audited['entities'][] {
  const isKept = disclosure.isAudited || disclosure.isEmergency;
  const interaction = interactionOf({ route, params });
  // What has changed something has an entry of its own.
  if (!isKept || !interaction || disclosure.isOfChange) return [];
  const clinical = [...disclosure.shown].filter(
    (reference) => !isAdministrative(reference.split('/')[0] ?? ''),
  );
  const data = ones.has(interaction) ? clinical.map((reference) => ({ reference, is: 'data' as const })) : [];
  const about = patients.map((reference) => ({ reference, is: 'patient' as const }));
  const parts = inChunks(about, mostPatients);
  // What tells of no patient and names no record tells nothing: the line in the log is enough.
  return parts.length > 0 ? parts.map((part) => [...data, ...part]) : data.length > 0 ? [data] : [];
}

async function keepEvents(
  services: Services,
  caller: Who,
  { route, params, disclosure }: Answered,
  patients: readonly string[],
): Promise<void> {
  const interaction = interactionOf({ route, params });
  if (!interaction) return;
  for (const entities of eventsOf({ route, params, disclosure }, patients).slice(0, disclosure.eventsPaid)) {
    await record(services, {
      ...{ project: caller.project, subtype: 'looked', interaction, entities },
      isEmergency: disclosure.isEmergency,
      action: ones.has(interaction) ? 'R' : 'E',
      agent: agentOfCaller(services, caller),
      client: caller.clientId,
    });
  }
}

/**
 * Leaves a line in the access log before a record goes to a Bot or an endpoint: nobody asks for it by a request. It is
 * delivered even when this fails; the log then says that it is lost.
 * @param actor the author of the Subscription, in whose name it goes out
 * @param resource with what is hidden from them
 */
export async function recordDelivery(
  services: Pick<Services, 'table' | 'log' | 'accessLog' | 'now'>,
  { project, profile, membershipId }: Pick<Actor, 'project' | 'profile' | 'membershipId'>,
  { subscriptionId, deliveryId, attempt }: { subscriptionId: string; deliveryId: string; attempt: number },
  resource: Resource,
): Promise<void> {
  // As in the traceparent that the endpoint is given.
  const traceId = deliveryId.slice(0, 32);
  const disclosure = newDisclosure();
  noteWhole(disclosure, resource);
  noteShown(disclosure, resource);
  await readContexts(services, { project, traceId }, disclosure);
  const patients = patientsAmong(disclosure);
  await orLost(services, traceId, () =>
    services.accessLog.write({
      ...{ time: new Date(services.now()).toISOString(), traceId, project },
      ...{ who: profile, membership: membershipId },
      ...{ subscription: `Subscription/${subscriptionId}`, delivery: deliveryId, attempt },
      ...{ resources: [`${resource.resourceType}/${resource.id}`], patients },
    }),
  );
}
