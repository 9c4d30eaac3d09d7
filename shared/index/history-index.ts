import { type Key, keys } from '../table/keys.ts';
import { type Stretch, shardOf, shards } from './span.ts';

/** One version of a resource. */
export interface VersionAt {
  type: string;
  id: string;
  lastUpdated: string;
  versionId: string;
}

const index = '_history';

/** The index entries by which the history of a type finds its versions, in the order of time. */
export const historyIndex = {
  key: (project: string, { type, id, lastUpdated, versionId }: VersionAt): Key =>
    keys.index(project, type, index, String(shardOf(id)), `${lastUpdated}#${id}#${versionId}`),
  /** What the sort key of an entry tells. */
  parse(sk: string): Omit<VersionAt, 'type'> {
    const [lastUpdated = '', id = '', versionId = ''] = sk.split('#');
    return { lastUpdated, id, versionId };
  },
};

/** Where all entries of a type are. */
export function historyShards(): Stretch[] {
  return Array.from({ length: shards }, (_, shard) => ({ index, bucket: String(shard) }));
}
