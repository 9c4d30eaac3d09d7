import { inflateRawSync } from 'node:zlib';
import { array, exactOptional, object, string, tuple } from 'valibot';
import type { LogEntry } from '../../shared/bot/contract.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { reference } from '../../shared/fhir/stored-resource.ts';
import { stored } from '../../shared/schema/stored.ts';
import type { Item } from '../../shared/table/item.ts';
import type { Parameter } from './parameters.ts';

const readExecution = stored(
  'record of a run',
  object({
    recorded: string(),
    agent: tuple([object({ who: reference })]),
    entity: array(
      object({ detail: exactOptional(array(object({ type: string(), valueString: string() }))) }),
    ),
  }),
);

/** One run: when, who, which version, how it ended, and its whole log, one `entry` a line. */
export function executionParameter(resource: Resource, item: Item): Parameter {
  const { recorded, agent, entity } = readExecution(resource);
  const { log, truncated } = readLog(item);
  const details = (entity[0]?.detail ?? []).map(({ type, valueString }) => ({ name: type, valueString }));
  return {
    name: 'execution',
    part: [
      { name: 'id', valueString: resource.id },
      { name: 'time', valueInstant: recorded },
      { name: 'requester', valueReference: agent[0].who },
      ...details,
      { name: 'log', part: log.map(entryParameter) },
      { name: 'logTruncated', valueBoolean: truncated },
    ],
  };
}

function entryParameter({ atMs, level, text }: LogEntry): Parameter {
  return {
    name: 'entry',
    part: [
      { name: 'time', valueInstant: new Date(atMs).toISOString() },
      { name: 'level', valueCode: level },
      { name: 'text', valueString: text },
    ],
  };
}

function readLog(item: Item): { log: LogEntry[]; truncated: boolean } {
  if (!(item.log instanceof Uint8Array)) return { log: [], truncated: false };
  const { entries, truncated } = JSON.parse(inflateRawSync(item.log).toString('utf8'));
  return { log: entries, truncated };
}
