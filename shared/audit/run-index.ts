import type { Resource } from '../fhir/resource.ts';
import { type Span, shardOf, shards } from '../search/span.ts';
import { type Key, keys } from '../table/keys.ts';

/** A Bot's runs in the order of time: a search by Bot alone could not be sorted without reading all. */
export const runIndex = '_run';

/** The index item of an execution record, beside those of its search parameters. */
export function runKeys(project: string, event: Resource): Key[] {
  const { subtype, entity, recorded, id } = event as Resource & Executed;
  const botId = /^Bot\/([^/]+)$/.exec(entity?.[0]?.what?.reference ?? '')?.[1];
  if (botId === undefined || !subtype?.some(({ code }) => code === 'execute')) return [];
  return [keys.index(project, 'AuditEvent', runIndex, bucketOf(botId, shardOf(id)), `${recorded}#${id}`)];
}

/** Where a Bot's runs are. @param bounds instants, both inside */
export function runSpans(botId: string, { from, to }: { from?: string; to?: string }): Span[] {
  return Array.from({ length: shards }, (_, shard) => ({
    bucket: bucketOf(botId, shard),
    ...(from === undefined ? {} : { from }),
    // `~` sorts after the `#` that ends an instant.
    ...(to === undefined ? {} : { to: `${to}~` }),
  }));
}

interface Executed {
  subtype?: { code?: string }[];
  entity?: { what?: { reference?: string } }[];
  recorded?: string;
}

function bucketOf(botId: string, shard: number): string {
  return `${botId}#${shard}`;
}
