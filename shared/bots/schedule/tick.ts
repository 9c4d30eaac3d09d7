import { stringifyJson } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';
import { errorName, fieldsOf } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys, scheduleDuePartitions, startKey } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import { type Action, ConditionFailed } from '../../carry/table/transact.ts';
import { targetOf } from '../../identity/audit/audit-event.ts';
import { lacks } from '../../identity/projects/settings.ts';
import { inlineResource, packText } from '../../store/items/content.ts';
import { botOf, type StoredBot } from '../bot/bot.ts';
import {
  isPaused,
  type Lease,
  releaseLease,
  runSettings,
  type StageBounds,
  startedLimit,
  takeLease,
} from '../run/bounds.ts';
import { jobItem, lastMomentMs, newJob } from '../run/job.ts';
import { runEntry } from '../run/record.ts';
import type { JobStarter } from '../run/services.ts';
import { type Due, dueItem, dueOf } from './due.ts';
import { nextDue, type Schedule, scheduleOf } from './schedule.ts';

/** Starts a job that was written; begun once, however often it is started. @param note that says so */
async function startWritten({ jobs, table }: TickServices, note: Item): Promise<void> {
  const started = await jobs.start({ project: String(note.project), jobId: String(note.jobId) });
  // Without a place it is started by the next tick.
  if (started === 'started') await table.write([], [note]);
}

const daySeconds = 86_400;

/**
 * Moves a schedule on, once, and starts the Bot. One that is late runs once and goes on from now. A Bot that
 * cannot run keeps no schedule: the list of its runs says why.
 */
async function runDue(services: TickServices, item: Item): Promise<void> {
  const { table, now } = services;
  const { project, botId, dueAt } = dueOf(item);
  const due: Due = { project, botId, dueAt };
  const scheduleKey = keys.schedule(project, botId);
  const botKey = keys.resource(project, 'Bot', botId);
  const projectKey = keys.resource(project, 'Project', project);
  const found = await table.read([scheduleKey, botKey, projectKey]);
  // It was said anew, or the Bot was deleted.
  if (found.get(scheduleKey)?.dueAt !== dueAt) return table.write([], [item]);
  const bot = botOf(found.get(botKey));
  const fault = bot ? await faultOf(services, bot, found.get(projectKey)) : 'deleted';
  const schedule = bot && !fault ? readSchedule(bot) : undefined;
  const next = schedule && nextDue(schedule, now());
  const note = { ...startKey(project, botId, dueAt), ...due, jobId: services.newId() };
  const head = found.get(projectKey);
  const passes = isPaused(head) || lacks(head, 'cron') || lacks(head, 'bots');
  const place = bot && schedule && !passes ? await placeOf(services, head, note) : undefined;
  // It stays due: a later tick looks again.
  if (place === 'none') return;
  const runs = bot && schedule && place ? runActions(services, bot, note, place) : [];
  const stopped = bot && !schedule ? [stopAction(services, bot, due, fault ?? 'no schedule')] : [];
  const moved: Action[] =
    next === undefined
      ? [{ name: 'schedule', remove: scheduleKey, if: 'dueAt = :due', values: { ':due': dueAt } }]
      : moveActions(due, new Date(next).toISOString());
  try {
    const over: Action = { name: 'due', remove: { pk: item.pk, sk: item.sk } };
    await table.transact([...moved, over, ...runs, ...stopped]);
  } catch (error) {
    await releaseLease(services, place);
    // Another tick has done it.
    if (error instanceof ConditionFailed) return;
    throw error;
  }
  if (runs.length > 0) await startWritten(services, note);
}

/** Of the runs that its Project may have at once, as for those that others do not wait for. */
async function placeOf(
  services: TickServices,
  head: Item | undefined,
  { project, botId, jobId }: Due & { jobId: string },
): Promise<Lease | 'none' | undefined> {
  const limit = startedLimit(services, runSettings(head));
  const run = { id: jobId, deadlineAtMs: lastMomentMs(services.now()) };
  return takeLease(services, project, limit, run).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    services.log.info('schedule waits for a place', { project, botId });
    return 'none' as const;
  });
}

async function faultOf(
  { table }: TickServices,
  { membershipId, codeVersion }: StoredBot,
  project: Item | undefined,
): Promise<string | undefined> {
  if (codeVersion === undefined) return 'no code';
  const { id, features } = fieldsOf(inlineResource('Project', project));
  if (Array.isArray(features) && !features.includes('bots')) return 'disabled';
  const key = keys.resource(String(id), 'ProjectMembership', membershipId);
  const membership = inlineResource('ProjectMembership', (await table.read([key])).get(key));
  return membership?.active === true ? undefined : 'disabled';
}

function readSchedule({ resource }: StoredBot): Schedule | undefined {
  try {
    return scheduleOf(resource);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function moveActions(due: Due, dueAt: string): Action[] {
  const { project, botId } = due;
  return [
    {
      name: 'schedule',
      update: keys.schedule(project, botId),
      set: 'SET dueAt = :next',
      if: 'dueAt = :due',
      values: { ':due': due.dueAt, ':next': dueAt },
    },
    { name: 'next', put: dueItem({ project, botId, dueAt }) },
  ];
}

/** The run as a job of the Bot itself, and the note that it is to be started. */
function runActions(
  { now }: TickServices,
  { resource, membershipId }: StoredBot,
  note: Due & Item & { jobId: string },
  lease: Lease,
): Action[] {
  const { project, botId, dueAt, jobId } = note;
  const run = { id: jobId, root: jobId, origin: jobId, depth: 0, deadlineAtMs: now() + daySeconds * 1000 };
  const job = newJob({
    id: jobId,
    ...{ project, botId, scheduledAt: dueAt, createdAtMs: now(), traceId: jobId },
    caller: {
      ...{ loginId: `run-${jobId}`, project, membershipId, profile: `Bot/${botId}` },
      ...{ clientId: botId, subject: botId, scope: '', run },
    },
    contentType: 'application/fhir+json',
    headers: { 'x-portico-scheduled': dueAt },
    inputKind: 'fhir',
    ...{ lease, nth: undefined, claim: undefined },
  });
  return [
    { name: 'job', put: jobItem(job, { input: packText(stringifyJson(resource)) }) },
    { name: 'start', put: note },
  ];
}

/** The entry in the list of the Bot's runs that its schedule has ended. */
function stopAction({ now, newId }: TickServices, { resource }: StoredBot, due: Due, why: string): Action {
  const who = { project: due.project, agent: targetOf(resource) };
  const values = { outcome: `schedule stopped: ${why}`, scheduled: due.dueAt };
  const entry = runEntry(resource, who, '4', values, newId(), now());
  return { name: 'stopped', put: { ...entry, ttl: Math.floor(now() / 1000) + 365 * daySeconds } };
}

/** Later than this people notice. */
const lateMs = 5 * 60_000;

/**
 * Runs what is due, each schedule once, however late it is and however many ticks there are; and starts what
 * an earlier tick had written and not started.
 */
export async function tick(services: TickServices): Promise<void> {
  const until = `${new Date(services.now()).toISOString()}~`;
  for (const partition of scheduleDuePartitions()) {
    for await (const items of readPages(services.table, partition, { to: until, limit: 50 })) {
      await Promise.all(items.map((item) => takeOne(services, item)));
    }
  }
}

/** One that fails stays for the next tick, and keeps no other. */
async function takeOne(services: TickServices, item: Item): Promise<void> {
  const { log, now } = services;
  const dueAt = String(item.dueAt);
  if (now() - Date.parse(dueAt) > lateMs) log.error('schedule late', { dueAt, botId: item.botId });
  try {
    if (item.jobId === undefined) await runDue(services, item);
    else await startWritten(services, item);
  } catch (error) {
    log.error('schedule not run', { botId: item.botId, error: errorName(error) });
  }
}

interface TickServices extends Services, StageBounds {
  jobs: JobStarter;
}
