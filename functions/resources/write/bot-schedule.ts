import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { requireFeature } from '../../../shared/project-features.ts';
import { projectSettings, settingDefaults } from '../../../shared/project-settings.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { scheduleActions } from '../../../shared/schedule/due.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Action } from '../../../shared/table/transact.ts';
import type { Context } from './write.ts';

/**
 * What follows from a change of a Bot's schedule; nothing when that stays as it was.
 * @throws {Refusal} unprocessable; forbidden in a Project without schedules
 */
export async function botScheduleActions(
  context: Context,
  before: Resource | undefined,
  after: Resource,
): Promise<Action[]> {
  const { services, stamp } = context;
  if (isDeepStrictEqual(before && said(before), said(after))) return [];
  const key = keys.schedule(stamp.project, after.id);
  // Read with the first schedule: it is large.
  const { scheduleOf, nextDue } = await import('../../../shared/schedule/schedule.ts');
  const schedule = scheduleOf(after);
  if (!schedule) return before ? [{ name: 'schedule', remove: key }] : [];
  requireFeature(context.actor, 'cron');
  const dueMs = nextDue(schedule, services.now());
  if (dueMs === undefined) throw new Refusal('unprocessable', 'The schedule never comes');
  await requireRoom(context, after.id);
  const dueAt = new Date(dueMs).toISOString();
  return scheduleActions({ project: stamp.project, botId: after.id, dueAt });
}

function said({ cronString, cronTiming, extension }: Resource) {
  return { cronString, cronTiming, extension };
}

async function requireRoom({ services: { table }, stamp }: Context, botId: string): Promise<void> {
  const { project } = stamp;
  const projectKey = keys.resource(project, 'Project', project);
  const [{ items }, found] = await Promise.all([
    table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.schedule(project, '').pk },
    }),
    table.read([projectKey]),
  ]);
  const { schedules: most = settingDefaults.schedules } = projectSettings(found.get(projectKey));
  if (items.some(({ sk }) => sk === botId) || items.length < most) return;
  throw new Refusal('unprocessable', `A Project has at most ${most} schedules`);
}
