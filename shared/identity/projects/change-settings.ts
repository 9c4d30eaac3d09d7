import { typedKeys } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, orThrow } from '../../carry/table/transact.ts';
import type { Queue } from '../../carry/work/queue.ts';
import { listSubscriptions } from '../../records/subscriptions/listed.ts';
import { auditAction, details, operator } from '../audit/audit-event.ts';
import { idleSetting, requireIdleMinutes } from '../gate/idle-time.ts';
import {
  featuresOff,
  isDisabled,
  isStaying,
  type ProjectFeature,
  type ProjectFlags,
  type ProjectNumbers,
  projectSettings,
  requireFeatures,
  requireNumbers,
  settingBounds,
  settingFlags,
} from './settings.ts';

/** The event that changes what a Project that is there may do. What is left out stays. */
export interface ChangeRequest extends ProjectNumbers, ProjectFlags {
  /** The features that it has no more: all that it is to lack, none to give it all. */
  featuresOff?: readonly ProjectFeature[];
  /** Id of a Project. */
  project: string;
  /** Stops all its Bots, Subscriptions and schedules, or lets them go on. */
  paused?: boolean;
  /** Ends all that goes on in the Project from the next request on, or lets it go on as it was. */
  disabled?: boolean;
  /** After how many minutes without use people are signed out; 0 for never. */
  idleMinutes?: number;
}

/** How the Project stands now: the settings that it does not leave to their defaults. */
export interface Changed {
  project: {
    id: string;
    paused: boolean;
    disabled: boolean;
    featuresOff: readonly ProjectFeature[];
    idleMinutes: number;
  } & ProjectNumbers &
    Required<ProjectFlags>;
}

interface ChangeServices extends Services {
  queues: { 'subscription-status': Queue };
}

/**
 * What comes for the Subscriptions of a Project that is stopped waits, and is delivered when it goes on.
 * @throws {Error} when the request is not valid, there is no such Project, or not all was told: then once more
 */
export async function changeProject(services: ChangeServices, request: ChangeRequest): Promise<Changed> {
  const { table, now } = services;
  const { project } = request;
  const asked = changeOf(request);
  const named = Object.entries(asked).map(([name, value]) => [name, String(value) || 'none']);
  const detail = details(Object.fromEntries(named));
  const entities = [{ reference: `Project/${project}`, detail }];
  const event = { subtype: 'provision', action: 'U', entities } as const;
  const key = keys.resource(project, 'Project', project);
  const { idleMinutes } = request;
  const before = idleMinutes === undefined ? undefined : await readItem(table, key);
  const change = { ...asked, ...(idleMinutes === undefined ? {} : idleSetting(before, idleMinutes, now())) };
  const audit = auditAction(services, { project, agent: operator }, event);
  const refused = () => new Error(`There is no Project ${project}, or it is being deleted`);
  await table.transact([headAction(key, change, now()), audit]).catch(orThrow(refused));
  if (goesOn(request)) await wakeSubscriptions(services, project);
  return standing(project, await readItem(table, key));
}

/** Whether deliveries that were held may go on; to be told so when they may not harms none. */
function goesOn({ paused, disabled, featuresOff: off }: ChangeRequest): boolean {
  return paused === false || disabled === false || off !== undefined;
}

type Change = Record<string, number | boolean | readonly ProjectFeature[]>;

const switches = ['paused', 'disabled', ...typedKeys(settingFlags)] as const;

/** @throws {Error} */
function changeOf(request: ChangeRequest): Change {
  requireNumbers(request);
  const change: Change = {};
  for (const name of [...typedKeys(settingBounds), ...switches]) {
    const value = request[name];
    if (value !== undefined) change[name] = value;
  }
  if (request.idleMinutes !== undefined) {
    requireIdleMinutes(request.idleMinutes);
    change.idleMinutes = request.idleMinutes;
  }
  for (const name of switches) {
    if (!['undefined', 'boolean'].includes(typeof change[name]))
      throw new Error(`${name} must be true or false`);
  }
  if (request.featuresOff !== undefined) change.featuresOff = requireFeatures(request.featuresOff);
  if (Object.keys(change).length === 0) throw new Error('Nothing is to be changed');
  return change;
}

function headAction(update: Key, change: Change, nowMs: number): Action {
  const { disabled, ...plain } = change;
  const set = Object.keys(plain).map((name) => `${name} = :${name}`);
  if (disabled === true) set.push('disabledAtMs = if_not_exists(disabledAtMs, :at)');
  // At its end too: a claim that overlapped with the beginning, or had another clock, is not back by it.
  if (disabled !== undefined) set.push('emergencyEndedAtMs = :at');
  const parts = [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(disabled === false ? ['REMOVE disabledAtMs'] : []),
  ];
  const values = {
    ...Object.fromEntries(Object.entries(plain).map(([name, value]) => [`:${name}`, value])),
    ...(disabled === undefined ? {} : { ':at': nowMs }),
  };
  return {
    name: 'project',
    update,
    set: parts.join(' '),
    // A Project that is being deleted does not come back.
    if: isStaying,
    ...(Object.keys(values).length > 0 ? { values } : {}),
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
  const { emitExecutions = false, auditReads = false, idleMinutes = 0 } = settings;
  return {
    project: {
      id,
      paused: head?.paused === true,
      emitExecutions,
      auditReads,
      disabled: isDisabled(head),
      featuresOff: featuresOff(head),
      idleMinutes,
      ...Object.fromEntries(numbers),
    },
  };
}
