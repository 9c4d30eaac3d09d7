import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '../../../shared/base/refusal.ts';
import type { Resource } from '../../../shared/base/resource.ts';
import { fieldsOf } from '../../../shared/base/values.ts';
import { createSandbox } from '../../../shared/bots/sandbox/supervisor.ts';
import { type ChangeInteraction, interactions } from '../../../shared/records/subscriptions/change.ts';
import { evaluate } from '../../../shared/records/subscriptions/match.ts';
import { parseSubscription } from '../../../shared/records/subscriptions/subscription.ts';
import { matchesAll } from '../../../shared/store/search/filter.ts';
import { cachedGuest } from '../../guest/build.ts';
import type { BotFiles } from './bot-run.ts';

interface Change {
  interaction: ChangeInteraction;
  /** Of a deletion the record as it was. */
  current: Resource;
  previous: Resource | undefined;
}

/**
 * Asks, by the service's own code, whether a Subscription is woken by a change that everybody may see.
 * @throws {Refusal} saying why not, or what is wrong with the Subscription
 */
async function requireWoken(resource: Resource, { interaction, current, previous }: Change) {
  const { filters, expression, type, interactions } = parseSubscription(resource, true);
  if (!interactions.includes(interaction)) throw notWoken(`it does not ask for ${interaction}`);
  if (current.resourceType !== type || !matchesAll(current, filters)) throw notWoken('its criteria');
  if (expression === undefined) return;
  const sandbox = createSandbox({ guestDir: await cachedGuest() });
  try {
    const evaluator = {
      invoke: async (request: Parameters<typeof sandbox.run>[0]) => ({
        ...{ kind: 'result' as const, result: await sandbox.run(request) },
      }),
    };
    const services = { evaluator, now: Date.now, newId: randomUUID };
    const met = await evaluate(services, 'local', expression, { current, previous });
    if (!met) throw notWoken('its expression');
    if (met !== true) throw notWoken(met.failed);
  } finally {
    await sandbox.close();
  }
}

function notWoken(reason: string): Refusal {
  return new Refusal('invalid', `Not woken: ${reason}`);
}

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
  interaction: ChangeInteraction,
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
