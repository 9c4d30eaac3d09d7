import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '../../shared/base/refusal.ts';
import type { Resource } from '../../shared/base/resource.ts';
import { fieldsOf } from '../../shared/base/values.ts';
import type { TraceBack } from '../../shared/bots/run/carry-out-run.ts';
import type { BotCode, RunInput } from '../../shared/bots/run/contract.ts';
import { createSandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { type ChangeInteraction, interactions } from '../../shared/records/subscriptions/change.ts';
import { evaluate } from '../../shared/records/subscriptions/match.ts';
import { parseSubscription } from '../../shared/records/subscriptions/subscription.ts';
import { matchesAll } from '../../shared/store/search/filter.ts';
import { cachedGuest } from '../guest/build.ts';

/** A Bot and its input, as the service would take them. */
export interface BotFiles {
  code: BotCode;
  /** Turns lines of the code that runs into the author's. */
  traceBack: TraceBack | undefined;
  input: RunInput;
  contentType: string | undefined;
  /** Of the event, beside those of every run. */
  headers?: Record<string, string>;
}

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
  const invoke = async (request: Parameters<typeof sandbox.run>[0]) =>
    ({ kind: 'result', result: await sandbox.run(request) }) as const;
  const services = { evaluator: { invoke }, now: Date.now, newId: randomUUID };
  const met = await evaluate(services, 'local', expression, { current, previous }).finally(() =>
    sandbox.close(),
  );
  if (!met) throw notWoken('its expression');
  if (met !== true) throw notWoken(met.failed);
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
  const read = async (file: string | undefined) => {
    const value: unknown = file === undefined ? undefined : JSON.parse(await readFile(file, 'utf8'));
    if (file === undefined || isRecord(value)) return value as Resource | undefined;
    throw new Error(`${file} holds no record`);
  };
  const previous = await read(options.previous);
  if (previous && interaction === 'create') throw new Error('--previous: nothing is before a creation');
  const isDeletion = interaction === 'delete';
  const input: unknown = files.input.kind === 'fhir' ? JSON.parse(files.input.text ?? 'null') : undefined;
  const current = isRecord(input) ? input : isDeletion ? previous : undefined;
  if (!current) throw new Error('--event needs a record as its input, a .fhir.json');
  const change = { interaction, current, previous: isDeletion ? (previous ?? current) : previous };
  if (!isDeletion && previous) requireChange(current, previous);
  const subscription = await read(options.subscription);
  if (subscription) await requireWoken(subscription, change);
  return {
    ...files,
    contentType: 'application/fhir+json',
    input: { kind: 'fhir', text: JSON.stringify(isDeletion ? { deletedResource: current } : current) },
    headers: {
      'x-medplum-subscription': subscription?.id ?? randomUUID(),
      'x-medplum-interaction': interaction,
      ...(isDeletion ? { 'x-medplum-deleted-resource': `${current.resourceType}/${current.id}` } : {}),
      'x-portico-attempt': '1',
    },
  };
}

function requireChange(current: Resource, previous: Resource): void {
  if (previous.resourceType !== current.resourceType || previous.id !== current.id) {
    throw new Error('--previous is another record than the input: type and id must be the same');
  }
  if (isDeepStrictEqual({ ...previous, meta: undefined }, { ...current, meta: undefined })) {
    throw new Refusal('invalid', 'Not woken: an update that changes nothing is no new version');
  }
}

function isRecord(value: unknown): value is Resource {
  return typeof fieldsOf(value).resourceType === 'string';
}
