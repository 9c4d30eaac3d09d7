import { indexPartition } from '../index/partition.ts';
import type { Stretch } from '../index/span.ts';
import type { Table } from '../table/table.ts';

/** Of which Project and type the stretches are. */
export interface Owner {
  table: Table;
  project: string;
  type: string;
}

/** The Query of a stretch: its partition, and the bounds of its sort keys. */
export function stretchQuery({ project, type }: Omit<Owner, 'table'>, stretch: Stretch) {
  const { pk } = indexPartition(project, type, stretch.index, stretch.bucket);
  return {
    KeyConditionExpression: `pk = :pk${conditionOf(stretch)}`,
    ExpressionAttributeValues: { ':pk': pk, ...valuesOf(stretch) },
  };
}

function conditionOf({ prefix, from, to }: Stretch): string {
  if (prefix !== undefined) return ' AND begins_with(sk, :prefix)';
  if (from !== undefined && to !== undefined) return ' AND sk BETWEEN :from AND :to';
  return from !== undefined ? ' AND sk >= :from' : to !== undefined ? ' AND sk <= :to' : '';
}

function valuesOf({ prefix, from, to }: Stretch): Record<string, string> {
  if (prefix !== undefined) return { ':prefix': prefix };
  return { ...(from === undefined ? {} : { ':from': from }), ...(to === undefined ? {} : { ':to': to }) };
}
