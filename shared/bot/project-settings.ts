import type { Item } from '../table/table.ts';

/** Hosts that the Bots of a Project may fetch from: names, or `*.` and a name for all below it. */
export interface FetchHosts {
  /** When given, these alone. */
  allow?: string[];
  /** Never these, whatever is allowed. */
  deny?: string[];
}

/** What a Project says of all its runs; kept on its head, beside the resource. */
export interface RunSettings {
  /** How long an execution record with its log is kept. */
  executionDays: number;
  /** How many runs may go on at once; undefined for as many as there is room for. */
  concurrentRuns: number | undefined;
  fetchHosts: FetchHosts;
}

const defaultExecutionDays = 365;

/** @param item the head of the Project */
export function runSettings(item: Item | undefined): RunSettings {
  return {
    executionDays: (item?.executionDays as number | undefined) ?? defaultExecutionDays,
    concurrentRuns: item?.concurrentRuns as number | undefined,
    fetchHosts: (item?.fetchHosts as FetchHosts | undefined) ?? {},
  };
}

/** A host name as URLs have it, `*.` before it for all below. Undefined when it is none. */
export function parseHost(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 253) return undefined;
  const [, wild = '', name = ''] = /^(\*\.)?([^*]+)$/.exec(value.trim()) ?? [];
  const url = `https://${name}/`;
  if (name === '' || /[/:?#@\\\s[\]]/.test(name) || !URL.canParse(url)) return undefined;
  return `${wild}${new URL(url).hostname.replace(/\.$/, '')}`;
}
