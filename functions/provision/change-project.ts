import { auditItem } from '../../shared/audit/audit-event.ts';
import { isPaused } from '../../shared/bot/project-settings.ts';
import {
  type ProjectNumbers,
  projectSettings,
  requireNumbers,
  settingBounds,
} from '../../shared/project-settings.ts';
import type { Queue } from '../../shared/queue/queue.ts';
import type { Services } from '../../shared/services.ts';
import { listSubscriptions } from '../../shared/subscription/listed.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Action } from '../../shared/table/transact.ts';
import { typedKeys } from '../../shared/typed-keys.ts';

/** The event that changes what a Project that is there may do. What is left out stays. */
export interface ChangeRequest extends ProjectNumbers {
  /** Id of a Project. */
  project: string;
  /** Stops all its Bots, Subscriptions and schedules, or lets them go on. */
  paused?: boolean;
  /** Whether the bus tells of its runs. */
  emitExecutions?: boolean;
}

/** How the Project stands now: the settings that it does not leave to their defaults. */
export interface Changed {
  project: { id: string; paused: boolean; emitExecutions: boolean } & ProjectNumbers;
}

interface ChangeServices extends Services {
  queues: { 'subscription-status': Queue };
}

/**
 * What comes for the Subscriptions of a Project that is stopped waits, and is delivered when it goes on.
 * @throws {Error} when the request is not valid, there is no such Project, or not all was told: then once more
 */
export async function changeProject(services: ChangeServices, request: ChangeRequest): Promise<Changed> {
  const { table, newId, now } = services;
  const { project } = request;
  const change = changeOf(request);
  const detail = Object.entries(change).map(([type, value]) => ({ type, valueString: String(value) }));
  const event = {
    ...({ project, subtype: 'provision', action: 'U', outcome: '0' } as const),
    agent: { reference: 'system' },
    entities: [{ reference: `Project/${project}`, detail }],
  };
  const key = keys.resource(project, 'Project', project);
  await table.transact([headAction(key, change), { name: 'audit', put: auditItem(event, newId(), now()) }]);
  if (request.paused === false) await wakeSubscriptions(services, project);
  return standing(project, (await table.read([key])).get(key));
}

/** @throws {Error} */
function changeOf(request: ChangeRequest): Record<string, number | boolean> {
  requireNumbers(request);
  const change: Record<string, number | boolean> = {};
  for (const name of [...typedKeys(settingBounds), 'paused', 'emitExecutions'] as const) {
    const value = request[name];
    if (value !== undefined) change[name] = value;
  }
  for (const name of ['paused', 'emitExecutions'] as const) {
    if (!['undefined', 'boolean'].includes(typeof change[name]))
      throw new Error(`${name} must be true or false`);
  }
  if (Object.keys(change).length === 0) throw new Error('Nothing is to be changed');
  return change;
}

function headAction(update: { pk: string; sk: string }, change: Record<string, number | boolean>): Action {
  const all = Object.entries(change);
  return {
    name: 'project',
    update,
    set: `SET ${all.map(([name]) => `${name} = :${name}`).join(', ')}`,
    if: 'attribute_exists(pk)',
    values: Object.fromEntries(all.map(([name, value]) => [`:${name}`, value])),
  };
}

async function wakeSubscriptions({ table, queues }: ChangeServices, project: string): Promise<void> {
  const listed = await listSubscriptions(table, project);
  if (listed.length === 0) return;
  const lost = await queues['subscription-status'].send(listed.map(({ id }) => ({ body: { project, id } })));
  if (lost.length > 0) throw new Error('Not all Subscriptions were told: try again');
}

function standing(id: string, head: Item | undefined): Changed {
  const settings = projectSettings(head);
  const numbers = typedKeys(settingBounds).flatMap((name) =>
    settings[name] === undefined ? [] : [[name, settings[name]]],
  );
  const { emitExecutions = false } = settings;
  return { project: { id, paused: isPaused(head), emitExecutions, ...Object.fromEntries(numbers) } };
}
