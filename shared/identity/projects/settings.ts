import {
  array,
  boolean,
  exactOptional,
  type InferInput,
  integer,
  number,
  object,
  pipe,
  string,
} from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import { recordOf, typedEntries, typedKeys } from '../../base/values.ts';
import { usualShares } from '../../carry/shares.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';

/** Numbers that a Project is provisioned with: the most that each may be, and what it is when left out. */
const numbers = {
  /** How many people may be invited within an hour. */
  invitesPerHour: { most: Number.MAX_SAFE_INTEGER, usual: 1_000 },
  /** Lifetime of an invitation. */
  invitationDays: { most: 30, usual: 7 },
  /** How long an execution record with its log is kept. */
  executionDays: { most: 3_650, usual: 365 },
  /** How many runs may go on at once; of those that runs and jobs start when left out. */
  concurrentRuns: { most: 1_000, usual: 50 },
  /** How many runs a run and all that follow from it may start. */
  treeRuns: { most: 1_000, usual: 64 },
  /** What it may have of a function's executions at once, in hundredths; the stage's `projectShare` when left out. */
  requestShare: { most: 100, usual: usualShares.project },
  /** How many Subscriptions it may have. */
  subscriptions: { most: 1_000, usual: 100 },
  /** How many of its Bots may have a schedule. */
  schedules: { most: 1_000, usual: 100 },
};
const numberNames = typedKeys(numbers);

export const settingBounds = recordOf(numberNames, (name) => numbers[name].most);
export const settingDefaults = recordOf(numberNames, (name) => numbers[name].usual);

/** What a Project is provisioned with beside the numbers: off when left out. */
export const settingFlags = {
  /** Whether the bus tells of its runs. */
  emitExecutions: true,
  /** Whether AuditEvents are kept of what is read. */
  auditReads: true,
} as const;

/** Such settings as they are asked for. */
export type ProjectNumbers = Partial<typeof settingBounds>;

export type ProjectFlags = Partial<Record<keyof typeof settingFlags, boolean>>;

/** @throws {Error} naming one that is none of its numbers */
export function requireNumbers(asked: ProjectNumbers): void {
  for (const [name, most] of typedEntries(settingBounds)) {
    const value = asked[name];
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) continue;
    throw new Error(`${name} must be a whole number from 1 to ${most}`);
  }
}

const count = exactOptional(pipe(number(), integer()));

const settingsSchema = object({
  ...recordOf(numberNames, () => count),
  ...recordOf(typedKeys(settingFlags), () => exactOptional(boolean())),
  /** From whom its mails come; the name of the Project when it is left out or empty. */
  senderName: exactOptional(string()),
  /** After how many minutes without use people are signed out; 0 or left out for never. */
  idleMinutes: exactOptional(number()),
  /** When that was set. */
  idleFromMs: exactOptional(number()),
  /** Logins that were last used until then have ended by a setting before. */
  idleOverMs: exactOptional(number()),
  /** How long emergency access lasts, in minutes; 0 where nobody can take it. */
  emergencyMinutes: count,
  fetchHosts: exactOptional(
    object({ allow: exactOptional(array(string())), deny: exactOptional(array(string())) }),
  ),
});

/** What a Project says of itself on its head, beside the resource. */
export type ProjectSettings = InferInput<typeof settingsSchema>;

/** Hosts that the Bots of a Project may fetch from: names, or `*.` and a name for all below it. */
export type FetchHosts = NonNullable<ProjectSettings['fetchHosts']>;

const read = stored('head of a Project', settingsSchema);

/** Whether nobody may do anything in the Project. @param item the head of the Project */
export function isDisabled(item: Item | undefined): boolean {
  return item?.disabledAtMs !== undefined;
}

/** For a transaction that writes into a Project: nothing comes into one that is being deleted. Named `project` when it fails. */
export function stayingAction(project: string): Action & { check: Key; if: string } {
  return { name: 'project', check: keys.resource(project, 'Project', project), if: isStaying };
}

/** That a Project is there, and is not being deleted. */
export const isStaying = 'attribute_exists(pk) AND attribute_not_exists(deletion)';

/** @param item the head of the Project */
export function projectSettings(item: Item | undefined): ProjectSettings {
  return read(item) ?? {};
}

/** Undefined where the stage decides; asked at every request. @param item the head of the Project */
export function requestShareOf(item: Item | undefined): number | undefined {
  return typeof item?.requestShare === 'number' ? item.requestShare : undefined;
}

/** Whether AuditEvents are kept of what is read; asked at every request. @param item the head of the Project */
export function auditsReads(item: Item | undefined): boolean {
  return item?.auditReads === true;
}

/** What every Project may do, unless it is provisioned without; what a person reads of each. */
const features = {
  bots: 'Bots',
  cron: 'schedules of Bots',
  subscriptions: 'Subscriptions',
  email: 'mails to the people whom it invites',
};

export type ProjectFeature = keyof typeof features;

export const projectFeatures = Object.keys(features) as readonly ProjectFeature[];

/** The features that a Project is provisioned without. @param head of the Project */
export function featuresOff(head: Item | undefined): readonly ProjectFeature[] {
  const off = head?.featuresOff;
  return Array.isArray(off) ? projectFeatures.filter((one) => off.includes(one)) : [];
}

/** @param head of the Project */
export function lacks(head: Item | undefined, feature: ProjectFeature): boolean {
  return featuresOff(head).includes(feature);
}

/**
 * @param actor who wants to use it, with what their Project lacks
 * @throws {Refusal} forbidden, naming the feature
 */
export function requireFeature(
  { lacking }: { lacking?: readonly ProjectFeature[] },
  feature: ProjectFeature,
): void {
  if (!lacking?.includes(feature)) return;
  throw new Refusal(
    'forbidden',
    `This Project has no ${features[feature]}: its feature ${feature} is switched off by whoever operates the service`,
  );
}

/** As they are asked for. @throws {Error} naming what is none, or is named twice */
export function requireFeatures(asked: unknown): readonly ProjectFeature[] {
  const off = projectFeatures.filter((one) => Array.isArray(asked) && asked.includes(one));
  if (Array.isArray(asked) && off.length === asked.length) return off;
  throw new Error(`featuresOff must be a list of some of ${projectFeatures.join(', ')}`);
}
