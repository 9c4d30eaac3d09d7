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
import { typedEntries } from '../../base/values.ts';
import { usualShares } from '../../carry/shares.ts';
import type { Item } from '../../carry/table/item.ts';

/** Numbers that a Project is provisioned with, each the most that it may be. What is left out has its default. */
export const settingBounds = {
  /** How many people may be invited within an hour. */
  invitesPerHour: Number.MAX_SAFE_INTEGER,
  /** Lifetime of an invitation. */
  invitationDays: 30,
  /** How long an execution record with its log is kept. */
  executionDays: 3_650,
  /** How many runs may go on at once. */
  concurrentRuns: 1_000,
  /** How many runs a run and all that follow from it may start. */
  treeRuns: 1_000,
  /** What it may have of a function's executions at once, in hundredths; the stage's `projectShare` when left out. */
  requestShare: 100,
  /** How many Subscriptions it may have. */
  subscriptions: 1_000,
  /** How many of its Bots may have a schedule. */
  schedules: 1_000,
};

/** What a Project is provisioned with beside the numbers: off when left out. */
export const settingFlags = {
  /** Whether the bus tells of its runs. */
  emitExecutions: true,
  /** Whether AuditEvents are kept of what is read. */
  auditReads: true,
} as const;

type SettingName = keyof typeof settingBounds;

/** What a Project has that was provisioned without them. */
export const settingDefaults: Record<SettingName, number> = {
  invitesPerHour: 1_000,
  invitationDays: 7,
  executionDays: 365,
  concurrentRuns: 50,
  treeRuns: 64,
  requestShare: usualShares.project,
  subscriptions: 100,
  schedules: 100,
};

/** Such settings as they are asked for. */
export type ProjectNumbers = Partial<Record<SettingName, number>>;

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
  ...({
    invitesPerHour: count,
    invitationDays: count,
    executionDays: count,
    concurrentRuns: count,
    treeRuns: count,
    requestShare: count,
    subscriptions: count,
    schedules: count,
  } satisfies Record<SettingName, typeof count>),
  /** Whether the bus tells of its runs. */
  emitExecutions: exactOptional(boolean()),
  /** From whom its mails come; the name of the Project when it is left out or empty. */
  senderName: exactOptional(string()),
  /** Whether AuditEvents are kept of what is read. */
  auditReads: exactOptional(boolean()),
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

/** From whom the mails of a Project come. @param item its head */
export function senderNameOf(item: Item | undefined, projectName: string): string {
  return projectSettings(item).senderName || projectName;
}

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
