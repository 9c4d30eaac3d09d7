import { array, exactOptional, type InferInput, integer, number, object, pipe, string } from 'valibot';
import { stored } from './schema/stored.ts';
import type { Item } from './table/item.ts';

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
  /** How many Subscriptions it may have. */
  subscriptions: 1_000,
};

type SettingName = keyof typeof settingBounds;

const count = exactOptional(pipe(number(), integer()));

const settingsSchema = object({
  ...({
    invitesPerHour: count,
    invitationDays: count,
    executionDays: count,
    concurrentRuns: count,
    treeRuns: count,
    subscriptions: count,
  } satisfies Record<SettingName, typeof count>),
  fetchHosts: exactOptional(
    object({ allow: exactOptional(array(string())), deny: exactOptional(array(string())) }),
  ),
});

/** What a Project says of itself on its head, beside the resource. */
export type ProjectSettings = InferInput<typeof settingsSchema>;

/** Hosts that the Bots of a Project may fetch from: names, or `*.` and a name for all below it. */
export type FetchHosts = NonNullable<ProjectSettings['fetchHosts']>;

const read = stored('head of a Project', settingsSchema);

/** @param item the head of the Project */
export function projectSettings(item: Item | undefined): ProjectSettings {
  return read(item) ?? {};
}
