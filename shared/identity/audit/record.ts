import { Refusal } from '../../base/refusal.ts';
import { isId } from '../../base/resource.ts';
import { errorName } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { unlimitedBudget } from '../../carry/table/budget.ts';
import { drawingOn } from '../../carry/table/metered.ts';
import type { Caller } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { type Audited, agentOfCaller, auditItem, details } from './audit-event.ts';

/**
 * Writes what happened beside the answer, which stands even when this fails; the log then says that
 * an entry is lost. What changes something has its entry in its own transaction instead. By who has emergency access
 * it is marked so.
 */
export async function record(
  { table, log, newId, now, disclosure }: Pick<Services, 'table' | 'log' | 'newId' | 'now' | 'disclosure'>,
  audited: Audited,
): Promise<void> {
  const { isEmergency = disclosure?.isEmergency } = audited;
  try {
    // What a request has used up must not keep from the log what it tried.
    await drawingOn(table, unlimitedBudget).put(auditItem({ ...audited, isEmergency }, newId(), now()));
  } catch (error) {
    const { project, subtype, outcome = '0' } = audited;
    log.error('audit entry lost', { project, subtype, outcome, error: errorName(error) });
  }
}

/** A request as far as an entry may tell of it: no body, no query. */
export interface Attempt {
  method: string;
  /** As in the route table, with names for ids. */
  route: string;
  parameters: Readonly<Record<string, string | undefined>>;
  status: number;
}

/**
 * A token that is not good is nobody's; throttling is not about what was asked; and who reads what was
 * deleted is told so, not refused.
 */
function isRefusal({ method, status }: Attempt): boolean {
  if (status === 410 && method === 'GET') return false;
  return status >= 400 && status < 500 && status !== 401 && status !== 429;
}

const mostEntities = 100;

/** One entry for all of the attempts that were refused, in the Project of whoever made them; none when none was. */
export async function recordRefused(
  services: Services,
  caller: Caller,
  attempts: readonly Attempt[],
): Promise<void> {
  // Forbidden, then not found, then what was wrong or too much: the later ones may be many on purpose.
  const rank = ({ status }: Attempt) => (status === 403 ? 0 : status === 404 ? 1 : 2);
  const all = attempts.filter(isRefusal);
  const refused = all.toSorted((a, b) => rank(a) - rank(b)).slice(0, mostEntities);
  const [first, ...others] = refused;
  if (!first || !(await isSomebody(services, caller))) return;
  await record(services, {
    project: caller.project,
    subtype: 'refused',
    action: others.length > 0 ? 'E' : actionOf(first.method, first.route),
    outcome: '4',
    outcomeDesc: others.length > 0 ? 'several' : String(first.status),
    agent: agentOfCaller(services, caller),
    entities: refused.map(({ method, route, parameters, status }) => ({
      ...attemptedTarget(route, parameters),
      detail: details({ route: `${method} ${route}`.trim(), status }),
    })),
  });
}

/**
 * Much is refused before it is asked whether login and membership still stand. Whose token is good by its signature
 * only is nobody: they write nothing, least of all into a Project that is being deleted.
 */
async function isSomebody(services: Services, caller: Caller): Promise<boolean> {
  if (caller.admission.isGranted) return true;
  try {
    await admit(services, caller, []);
    return true;
  } catch (error) {
    return !(error instanceof Refusal && error.kind === 'unauthorized');
  }
}

function actionOf(method: string, route: string): Audited['action'] {
  if (route.endsWith('$execute')) return 'E';
  if (method === 'GET' || route.endsWith('_search')) return 'R';
  return method === 'POST' ? 'C' : method === 'DELETE' ? 'D' : 'U';
}

/** What it was about, where the path says so: the type stands before the id, by a name or by itself. */
function attemptedTarget(route: string, parameters: Attempt['parameters']): { reference?: string } {
  const { resourceType, id, membershipId, botId, clientId } = parameters;
  if (membershipId !== undefined) return referenceTo('ProjectMembership', membershipId);
  if (botId !== undefined) return referenceTo('Bot', botId);
  if (clientId !== undefined) return referenceTo('ClientApplication', clientId);
  if (id === undefined) return {};
  const named = /\/([A-Z][A-Za-z]+)\/\{id\}/.exec(route)?.[1];
  const type = named ?? (isOfResource.test(route) ? resourceType : undefined);
  return type === undefined ? {} : referenceTo(type, id);
}

/** Runs, jobs and exports have ids too, and are no resources. */
const isOfResource = /^batch$|\/\{resourceType\}\/\{id\}/;

function referenceTo(type: string, id: string): { reference?: string } {
  return /^[A-Z][A-Za-z]{1,63}$/.test(type) && isId(id) ? { reference: `${type}/${id}` } : {};
}
