import { isAdministrative, parseReference, type Resource } from '../../base/resource.ts';
import { errorName, fieldsOf } from '../../base/values.ts';
import type { Disclosure, Viewer } from '../../carry/disclosure.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { patientsOf } from '../../store/index/key-range.ts';
import { standingState } from '../../store/items/versions.ts';
import type { Claims } from '../gate/access-token.ts';
import type { Actor } from '../gate/actor.ts';
import { agentOfCaller } from './audit-event.ts';
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

type InteractionCode = (typeof interactions)[keyof typeof interactions];

const compartment = 'GET /fhir/R4/Patient/{id}/{resourceType}';

interface Asked {
  /** As in the route table. */
  route: string;
  params: Readonly<Record<string, string>>;
}

/** Undefined for a route that reads no records. */
function interactionOf({ route, params }: Asked): InteractionCode | undefined {
  // API Gateway may find the search of a compartment for the history of a Patient.
  const isHistory = route === compartment && params.resourceType === '_history';
  if (isHistory) return 'history-instance';
  return Object.entries(interactions).find(([key]) => key === route)?.[1];
}

/**
 * The Patients whose records some resources are, by reference; a Binary is of those of what it is part of. Where that
 * cannot be read the log says so, and the others are named.
 * @param of.project undefined where nobody is known, who is shown nothing
 */
async function patientsAmong(
  services: Pick<Services, 'table' | 'log'>,
  of: { project: string | undefined; traceId: string },
  resources: readonly Resource[],
): Promise<string[]> {
  const { project, traceId } = of;
  const all = new Set(resources.flatMap((one) => [...patientsOf(one)]));
  await orLost(services, traceId, async () => {
    const contexts = project === undefined ? [] : await contextsOf(services, project, resources);
    for (const context of contexts) for (const patient of patientsOf(context)) all.add(patient);
  });
  return [...all];
}

/** What cannot be recorded is not: the log says so. */
async function orLost({ log }: Pick<Services, 'log'>, traceId: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error('access record lost', { traceId, error: errorName(error) });
  }
}

/**
 * What the Binaries are part of (R4 Binary.securityContext), as it stands, or as it was when it was deleted. One that
 * names a Patient says by itself whose it is.
 */
async function contextsOf(
  { table }: Pick<Services, 'table'>,
  project: string,
  resources: readonly Resource[],
): Promise<Resource[]> {
  const named = new Set<string>();
  for (const { resourceType, securityContext } of resources) {
    const { reference } = fieldsOf(securityContext);
    if (resourceType === 'Binary' && typeof reference === 'string') named.add(reference);
  }
  const targets = [...named].flatMap((reference) => {
    const target = parseReference(reference);
    return target && target.type !== 'Patient' && target.type !== 'Binary' ? [{ project, ...target }] : [];
  });
  if (targets.length === 0) return [];
  const found = await table.read(targets.map(({ type, id }) => keys.resource(project, type, id)));
  const states = targets.map((target) => {
    const head = found.get(keys.resource(project, target.type, target.id));
    return head && standingState(table, head);
  });
  return (await Promise.all(states)).flatMap((state) => (state ? [state.resource] : []));
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
  const shown = [...disclosure.shown];
  const states = shown.flatMap((reference) => disclosure.whole.get(reference) ?? []);
  const patients = await patientsAmong(services, { project: caller?.project, traceId }, states);
  await orLost(services, traceId, () => writeLines(services, caller, answered, { shown, patients }));
  if (caller && (disclosure.isAudited || disclosure.isEmergency))
    await keepEvents(services, caller, answered, { shown, patients });
}

interface Shown {
  shown: readonly string[];
  /** The Patients that what was shown is about. */
  patients: readonly string[];
}

function writeLines(
  { accessLog, now }: Services,
  caller: Who | undefined,
  { route, params, status, traceId, receivedAtMs, source, disclosure }: Answered,
  { shown, patients }: Shown,
): void {
  const atMs = now();
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

async function keepEvents(
  services: Services,
  caller: Who,
  { route, params, disclosure }: Answered,
  { shown, patients }: Shown,
): Promise<void> {
  const interaction = interactionOf({ route, params });
  // What has changed something has an entry of its own.
  if (!interaction || disclosure.isOfChange) return;
  const isOne = ones.has(interaction);
  const clinical = shown.filter((reference) => !isAdministrative(reference.split('/')[0] ?? ''));
  const data = isOne ? clinical.map((reference) => ({ reference, is: 'data' as const })) : [];
  const about = patients.map((reference) => ({ reference, is: 'patient' as const }));
  // What tells of no patient and names no record tells nothing: the line in the log is enough.
  const events = Math.ceil(about.length / mostPatients) || (data.length > 0 ? 1 : 0);
  for (let event = 0; event < events; event += 1) {
    await record(services, {
      ...{ project: caller.project, subtype: 'looked', interaction },
      isEmergency: disclosure.isEmergency,
      action: isOne ? 'R' : 'E',
      agent: agentOfCaller(services, caller),
      client: caller.clientId,
      entities: [...data, ...about.slice(event * mostPatients, (event + 1) * mostPatients)],
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
  const patients = await patientsAmong(services, { project, traceId }, [resource]);
  await orLost(services, traceId, () =>
    services.accessLog.write({
      ...{ time: new Date(services.now()).toISOString(), traceId, project },
      ...{ who: profile, membership: membershipId },
      ...{ subscription: `Subscription/${subscriptionId}`, delivery: deliveryId, attempt },
      ...{ resources: [`${resource.resourceType}/${resource.id}`], patients },
    }),
  );
}
