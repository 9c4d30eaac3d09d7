import { auditItem } from '../../shared/audit/audit-event.ts';
import type { Queue } from '../../shared/queue/queue.ts';
import type { Services } from '../../shared/services.ts';
import { listSubscriptions } from '../../shared/subscription/listed.ts';
import { keys } from '../../shared/table/keys.ts';

/** The event that stops all Bots and Subscriptions of a Project, or lets them go on. */
export interface PauseRequest {
  /** Id of a Project. */
  project: string;
  paused: boolean;
}

export interface Paused {
  project: { id: string; paused: boolean };
}

interface PauseServices extends Services {
  queues: { 'subscription-status': Queue };
}

/** What comes meanwhile for its Subscriptions waits. @throws {Error} when there is no such Project */
export async function pause(
  { table, queues, newId, now }: PauseServices,
  { project, paused }: PauseRequest,
): Promise<Paused> {
  const agent = { reference: 'system' };
  const entities = [
    { reference: `Project/${project}`, detail: [{ type: 'paused', valueString: String(paused) }] },
  ];
  const event = { project, subtype: 'provision', action: 'U', outcome: '0', agent, entities } as const;
  await table.transact([
    {
      name: 'project',
      update: keys.resource(project, 'Project', project),
      if: 'attribute_exists(pk)',
      ...(paused ? { set: 'SET paused = :true', values: { ':true': true } } : { set: 'REMOVE paused' }),
    },
    { name: 'audit', put: auditItem(event, newId(), now()) },
  ]);
  const listed = paused ? [] : await listSubscriptions(table, project);
  const lost =
    listed.length > 0
      ? await queues['subscription-status'].send(listed.map(({ id }) => ({ body: { project, id } })))
      : [];
  if (lost.length > 0) throw new Error('Not all Subscriptions were told: try again');
  return { project: { id: project, paused } };
}
