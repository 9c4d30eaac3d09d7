import { type FetchHosts, isDisabled, projectSettings, settingDefaults } from '../project-settings.ts';
import type { Item } from '../table/item.ts';

/** What a Project says of all its runs; kept on its head, beside the resource. */
export interface RunSettings {
  /** How long an execution record with its log is kept. */
  executionDays: number;
  /** How many runs may go on at once; undefined for a bound of those alone that runs and jobs start. */
  concurrentRuns: number | undefined;
  /** How many runs a run and all that follow from it may start. */
  treeRuns: number;
  fetchHosts: FetchHosts;
  /** Whether the bus tells of them. */
  emitsExecutions: boolean;
}

/** @param item the head of the Project */
export function runSettings(item: Item | undefined): RunSettings {
  const { executionDays, concurrentRuns, treeRuns, fetchHosts = {}, emitExecutions } = projectSettings(item);
  return {
    executionDays: executionDays ?? settingDefaults.executionDays,
    concurrentRuns,
    treeRuns: treeRuns ?? settingDefaults.treeRuns,
    fetchHosts,
    emitsExecutions: emitExecutions === true,
  };
}

/** Whether all Bots, Subscriptions and schedules of a Project are stopped. @param item the head of the Project */
export function isPaused(item: Item | undefined): boolean {
  return item?.paused === true || isDisabled(item);
}

/** A host name as URLs have it, `*.` before it for all below. Undefined when it is none. */
export function parseHost(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 253) return undefined;
  const [, wild = '', name = ''] = /^(\*\.)?([^*]+)$/.exec(value.trim()) ?? [];
  const url = `https://${name}/`;
  if (name === '' || /[/:?#@\\\s[\]]/.test(name) || !URL.canParse(url)) return undefined;
  return `${wild}${new URL(url).hostname.replace(/\.$/, '')}`;
}
