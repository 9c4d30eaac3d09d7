import type { Resource } from '../fhir/resource.ts';
import { type Key, keys, runShardOf, runShards } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** The item that lists an execution record among its Bot's runs: a search could not sort them by time. */
export function runKeys(project: string, event: Resource): Key[] {
  const { subtype, entity, recorded, id } = event as Resource & Executed;
  const botId = /^Bot\/([^/#]+)$/.exec(entity?.[0]?.what?.reference ?? '')?.[1];
  if (botId === undefined || !subtype?.some(({ code }) => code === 'execute')) return [];
  return [keys.run(project, botId, runShardOf(id), `${recorded}#${id}`)];
}

interface Executed {
  subtype?: { code?: string }[];
  entity?: { what?: { reference?: string } }[];
  recorded?: string;
}

/** Which runs of a Bot; instants, both inside. */
export interface WantedRuns {
  project: string;
  botId: string;
  from?: string;
  to?: string;
  /** The position of the last one seen. */
  after: string | undefined;
  /** How many of each shard are read at once. */
  limit: number;
}

/** A Bot's runs, newest first: the id of the AuditEvent, and its position in the list. */
export async function* listRuns(
  table: Table,
  wanted: WantedRuns,
): AsyncGenerator<{ id: string; position: string }> {
  const readers = Array.from({ length: runShards }, (_, shard) => readShard(table, wanted, shard));
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    let newest = -1;
    for (const [shard, { done, value }] of heads.entries()) {
      const best = heads[newest]?.value;
      if (!done && (best === undefined || String(value) > String(best))) newest = shard;
    }
    const position = heads[newest]?.value;
    if (typeof position !== 'string') return;
    yield { id: position.slice(position.lastIndexOf('#') + 1), position };
    heads[newest] = (await readers[newest]?.next()) ?? { done: true, value: undefined };
  }
}

async function* readShard(
  table: Table,
  { project, botId, from, to, after, limit }: WantedRuns,
  shard: number,
): AsyncGenerator<string, undefined> {
  const { pk } = keys.run(project, botId, shard, '');
  let next: Key | undefined = after === undefined ? undefined : { pk, sk: after };
  do {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      // `~` sorts after the `#` that ends an instant, and after every digit.
      ExpressionAttributeValues: {
        ':pk': pk,
        ':from': from ?? '0',
        ':to': to === undefined ? '~' : `${to}~`,
      },
      ScanIndexForward: false,
      Limit: limit,
      ...(next ? { ExclusiveStartKey: next } : {}),
    });
    for (const { sk } of page.items) yield sk;
    next = page.next;
  } while (next);
}
