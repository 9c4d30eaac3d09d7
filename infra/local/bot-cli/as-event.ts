import { randomUUID } from 'node:crypto';
import type { BotFiles } from './bot-input.ts';

/**
 * A run as a Subscription would ask for it.
 * @param interaction create, update or delete
 * @throws {Error} when it is none, or the input is no record
 */
export function asEvent(files: BotFiles, interaction: string): BotFiles {
  if (!['create', 'update', 'delete'].includes(interaction)) {
    throw new Error('--event is create, update or delete');
  }
  const record = JSON.parse(files.input.text ?? 'null') as { resourceType?: unknown; id?: unknown } | null;
  if (files.input.kind !== 'fhir' || typeof record?.resourceType !== 'string') {
    throw new Error('--event needs a record as its input, a .fhir.json');
  }
  const isDeletion = interaction === 'delete';
  return {
    ...files,
    ...(isDeletion ? { input: { kind: 'fhir', text: JSON.stringify({ deletedResource: record }) } } : {}),
    headers: {
      'x-medplum-subscription': randomUUID(),
      'x-medplum-interaction': interaction,
      ...(isDeletion ? { 'x-medplum-deleted-resource': `${record.resourceType}/${record.id}` } : {}),
      'x-portico-attempt': '1',
    },
  };
}
