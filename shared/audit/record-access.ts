import type { Claims } from '../access/access-token.ts';
import type { Disclosure, Viewer } from '../disclosure.ts';
import { errorName } from '../error-name.ts';
import { isAdministrative } from '../fhir/administrative.ts';
import type { Services } from '../services.ts';
import { interactionOf } from './interaction.ts';
import { patientsAmong } from './patients-among.ts';
import { record } from './record.ts';
import { agentOfCaller } from './who.ts';

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
  const shown = [...answered.disclosure.shown];
  const states = shown.flatMap((reference) => answered.disclosure.whole.get(reference) ?? []);
  const patients = await patientsAmong(
    services,
    { project: caller?.project, traceId: answered.traceId },
    states,
  );
  try {
    writeLines(services, caller, answered, { shown, patients });
  } catch (error) {
    services.log.error('access record lost', { traceId: answered.traceId, error: errorName(error) });
  }
  if (caller && (answered.disclosure.isAudited || answered.disclosure.isEmergency))
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
      ...{ project: caller.project, subtype: 'looked', outcome: '0', interaction },
      isEmergency: disclosure.isEmergency,
      action: isOne ? 'R' : 'E',
      agent: agentOfCaller(services, caller),
      client: caller.clientId,
      entities: [...data, ...about.slice(event * mostPatients, (event + 1) * mostPatients)],
    });
  }
}
