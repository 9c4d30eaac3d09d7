import { projectSettings, settingDefaults } from '../../../shared/project-settings.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { listSubscriptions } from '../../../shared/subscription/listed.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Planned } from './write.ts';

/** @throws {Refusal} unprocessable when a Project would have more Subscriptions than it may */
export async function requireRoom(
  { table }: Services,
  project: string,
  planned: readonly Planned[],
): Promise<void> {
  const made = planned.filter(
    ({ outcome }) => outcome.type === 'Subscription' && outcome.kind === 'created',
  ).length;
  if (made === 0) return;
  const projectKey = keys.resource(project, 'Project', project);
  const [listed, found] = await Promise.all([listSubscriptions(table, project), table.read([projectKey])]);
  const { subscriptions: most = settingDefaults.subscriptions } = projectSettings(found.get(projectKey));
  if (listed.length + made <= most) return;
  throw new Refusal('unprocessable', `A Project has at most ${most} Subscriptions`);
}
