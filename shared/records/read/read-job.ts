import { Refusal } from '../../base/refusal.ts';
import { isId } from '../../base/resource.ts';
import { botOf } from '../../bots/bot/bot.ts';
import { releaseLease } from '../../bots/run/bounds.ts';
import { keyOfJob, requestCancel } from '../../bots/run/cancel.ts';
import { unknownRun } from '../../bots/run/execute.ts';
import {
  endJob,
  freeKey,
  isOverdue,
  type Job,
  jobOf,
  loadText,
  cancelJob as takeBack,
} from '../../bots/run/job.ts';
import { boundsText } from '../../bots/run/run-request.ts';
import { type OperationOutcome, refusalOutcome } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit, isRoot, mayAdminister, requireOwn } from '../../identity/gate/actor.ts';
import { requireAccess } from '../../identity/policies/access.ts';

/**
 * How far a job is, for who asked for it, as long as they may execute its Bot, and for administrators. One whose time
 * is over without an end was cut off: it is ended here.
 * @throws {Refusal} not-found, forbidden
 */
export async function readJob(services: Services, caller: Caller, { id }: { id: string }) {
  const { actor, item, job } = await requireJob(services, caller, id);
  await requireRight(services, actor, job);
  if (!isOverdue(job, services.now())) return asyncJob(services, item);
  const output = JSON.stringify({
    resourceType: 'Parameters',
    parameter: [{ name: 'outcome', resource: cutOff(job) }],
  });
  const ended = await endJob(services, job, job.status, { status: 'error', output });
  if (ended) await releaseLease(services, job.lease);
  if (ended && job.status === 'accepted') await freeKey(services, job);
  return asyncJob(services, ended ?? (await requireJob(services, caller, id)).item);
}

/**
 * Takes back a job that has not begun, and has one that runs stopped: it is `active` until it has been. One that
 * has ended stays as it is.
 * @throws {Refusal} not-found; forbidden for an administrator under a policy, of what others asked for
 */
export async function cancelJob(services: Services, caller: Caller, { id }: { id: string }): Promise<void> {
  const { actor, job } = await requireJob(services, caller, id);
  requireOwn(actor, job.caller.membershipId);
  if (await takeBack(services, job.project, job.id)) {
    await freeKey(services, job);
    return releaseLease(services, job.lease);
  }
  const { job: now } = await requireJob(services, caller, id);
  if (now.status === 'active') await requestCancel(services, actor, keyOfJob(job.id));
}

async function requireJob(
  services: Services,
  caller: Caller,
  id: string,
): Promise<{ actor: Actor; item: Item; job: Job }> {
  const key = keys.job(caller.project, isId(id) ? id : 'none');
  const { actor, found } = await admit(services, caller, [key]);
  const item = found.get(key);
  const job = jobOf(item);
  const mayRead = job && (job.caller.membershipId === actor.membershipId || mayAdminister(actor));
  if (!item || !mayRead) throw new Refusal('not-found', 'Not found');
  return { actor, item, job };
}

/** What a run returned is for who may have it run now, and within the same rights. */
async function requireRight(services: Services, actor: Actor, job: Job): Promise<void> {
  const isOwn = job.caller.membershipId === actor.membershipId;
  if (isRoot(actor) || (isOwn && job.scheduledAt !== undefined)) return;
  // It may tell of all that the Bot could read then.
  if (!isOwn)
    throw new Refusal('forbidden', 'What a run of others has returned is not within an accessPolicy');
  const bot = botOf(await readItem(services.table, keys.resource(job.project, 'Bot', job.botId)));
  if (!bot) throw new Refusal('not-found', 'Not found');
  const isOthers = bot.resource.runAsUser === true && boundsText(actor) !== boundsText(job.caller);
  if (isOthers) throw new Refusal('not-found', 'Not found');
  await requireAccess(actor, 'execute', bot.resource);
}

function cutOff({ id, status }: Job): OperationOutcome {
  const refusal =
    status === 'accepted' ? new Refusal('conflict', `Run ${id} was not started in time`) : unknownRun(id);
  return refusalOutcome(refusal);
}

/** An AsyncJob, as FHIR clients of this field read it; `output` in the digits in which it was stored. */
async function asyncJob({ table, baseUrl }: Services, item: Item) {
  const { id, status, botId, createdAtMs, endedAtMs } = jobOf(item);
  const output = await loadText(table, item, 'output');
  return {
    ...{ resourceType: 'AsyncJob', id },
    meta: { lastUpdated: instant(endedAtMs ?? createdAtMs) },
    status,
    request: `${baseUrl}/fhir/R4/Bot/${botId}/$execute`,
    requestTime: instant(createdAtMs),
    ...(endedAtMs === undefined ? {} : { transactionTime: instant(endedAtMs) }),
    ...(output === undefined ? {} : { output: JSON.parse(output) }),
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
