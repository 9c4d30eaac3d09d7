import { keys, listedRunShards, runShards } from '../table/keys.ts';
import type { TimedList } from './timed-list.ts';

/** What is read of a record where its log, up to 256 KB, is not wanted. */
export const recordWithoutLog: readonly string[] = ['versionId', 'lastUpdated', 'content', 'ttl'];

/** Where a Bot's runs are listed, those of earlier releases too. */
export function runLists(project: string, botId: string): TimedList[] {
  return shards(project, botId, listedRunShards);
}

/** Where a Bot's runs are recorded. */
export function runRecordLists(project: string, botId: string): TimedList[] {
  return shards(project, botId, runShards);
}

function shards(project: string, botId: string, count: number): TimedList[] {
  return Array.from({ length: count }, (_, shard) => ({ pk: keys.run(project, botId, shard, '').pk }));
}
