import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { type Interaction, interactions } from '../../../shared/subscription/change.ts';
import type { BotFiles } from './bot-input.ts';
import { type Change, requireWoken } from './would-wake.ts';

/** What `--event` and the options beside it say. */
export interface EventOptions {
  /** create, update or delete */
  event: string;
  /** A file: the record before the change. Of a deletion it may stand for the input. */
  previous: string | undefined;
  /** A file: the Subscription that is to be woken by the change. */
  subscription: string | undefined;
}

/**
 * A run as a Subscription would ask for it.
 * @throws {Refusal} when the change wakes nobody
 * @throws {Error} when an option or a file is not what it should be
 */
export async function asEvent(files: BotFiles, options: EventOptions): Promise<BotFiles> {
  const interaction = interactions.find((one) => one === options.event);
  if (!interaction) throw new Error('--event is create, update or delete');
  const previous = options.previous === undefined ? undefined : await readRecord(options.previous);
  if (previous && interaction === 'create') throw new Error('--previous: nothing is before a creation');
  const change = changeOf(interaction, recordIn(files), previous);
  const subscription =
    options.subscription === undefined ? undefined : await readRecord(options.subscription);
  if (subscription) await requireWoken(subscription, change);
  return woken(files, change, subscription?.id ?? randomUUID());
}

function changeOf(
  interaction: Interaction,
  input: Resource | undefined,
  previous: Resource | undefined,
): Change {
  const current = input ?? (interaction === 'delete' ? previous : undefined);
  if (!current) throw new Error('--event needs a record as its input, a .fhir.json');
  if (interaction === 'delete') return { interaction, current, previous: previous ?? current };
  if (previous && (previous.resourceType !== current.resourceType || previous.id !== current.id)) {
    throw new Error('--previous is another record than the input: type and id must be the same');
  }
  if (previous && isDeepStrictEqual({ ...previous, meta: undefined }, { ...current, meta: undefined })) {
    throw new Refusal('invalid', 'Not woken: an update that changes nothing is no new version');
  }
  return { interaction, current, previous };
}

function woken(files: BotFiles, { interaction, current }: Change, subscriptionId: string): BotFiles {
  const isDeletion = interaction === 'delete';
  const text = JSON.stringify(isDeletion ? { deletedResource: current } : current);
  return {
    ...files,
    contentType: 'application/fhir+json',
    input: { kind: 'fhir', text },
    headers: {
      'x-medplum-subscription': subscriptionId,
      'x-medplum-interaction': interaction,
      ...(isDeletion ? { 'x-medplum-deleted-resource': `${current.resourceType}/${current.id}` } : {}),
      'x-portico-attempt': '1',
    },
  };
}

function recordIn({ input }: BotFiles): Resource | undefined {
  return input.kind === 'fhir' ? record(JSON.parse(input.text ?? 'null')) : undefined;
}

async function readRecord(file: string): Promise<Resource> {
  const found = record(JSON.parse(await readFile(file, 'utf8')));
  if (!found) throw new Error(`${file} holds no record`);
  return found;
}

function record(value: unknown): Resource | undefined {
  const { resourceType } = fieldsOf(value);
  return typeof resourceType === 'string' ? (value as Resource) : undefined;
}
