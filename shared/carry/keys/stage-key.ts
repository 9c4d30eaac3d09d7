import { array, exactOptional, type InferInput, number, object, string } from 'valibot';
import { longestEnrolmentMs, stageKeyLookAgainMs, stageKeyRereadMs } from '../../base/limits.ts';
import { bytes, stored } from '../../base/schema.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import { readItem, type Table } from '../table/table.ts';
import type { KeyContext, KeyWrapping } from './data-keys.ts';
import type { KeyPurpose, KeyRing, KeyRings } from './key-ring.ts';

const schema = object({
  versions: array(object({ version: number(), wrapped: bytes, madeAtMs: number() })),
  /** The version that makes what is new; later ones are made and not used yet. */
  current: number(),
  currentSinceMs: number(),
  /** Grows with every change. */
  revision: number(),
  /** How far it is looked whether earlier versions are still needed. */
  retiring: exactOptional(
    object({
      from: object({ pk: string(), sk: string() }),
      standing: number(),
      resealed: number(),
    }),
  ),
});

/** A purpose's key as it is stored: each of its versions wrapped. */
export type StageKey = InferInput<typeof schema>;

export const stageKeyOf: (item: Item | undefined) => StageKey | undefined = stored('stage key', schema);

/** @throws {Error} when the stage has none for that purpose */
export async function readStageKey(table: Table, purpose: KeyPurpose): Promise<StageKey> {
  const item = await readItem(table, keys.stageKey(purpose));
  const key = stageKeyOf(item);
  if (!key) throw new Error(`The stage has no key for ${purpose}`);
  return key;
}

/** A key as operators see it. */
export interface KeyState {
  purpose: KeyPurpose;
  /** The version that makes what is new. */
  current: number;
  /** An instant of ISO 8601. */
  since: string;
  versions: number[];
}

export function keyStateOf(
  purpose: KeyPurpose,
  { versions, current, currentSinceMs }: Omit<StageKey, 'revision'>,
): KeyState {
  return {
    purpose,
    current,
    since: new Date(currentSinceMs).toISOString(),
    versions: versions.map(({ version }) => version),
  };
}

/** Writes the next state of a purpose's key, if nobody else has since `before` was read. @returns whether it was written */
export async function writeStageKey(
  table: Table,
  purpose: KeyPurpose,
  next: Omit<StageKey, 'revision'>,
  before: StageKey | undefined,
): Promise<boolean> {
  const { held } = await table.putIf(
    { ...keys.stageKey(purpose), ...next, revision: (before?.revision ?? 0) + 1 },
    before
      ? {
          ConditionExpression: 'revision = :seen',
          ExpressionAttributeValues: { ':seen': before.revision },
        }
      : { ConditionExpression: 'attribute_not_exists(pk)' },
  );
  return held;
}

/** What a wrapped version is for: IAM lets a role open those of its purposes only, and none opens as another. */
export function stageKeyContext(purpose: KeyPurpose, version: number): KeyContext {
  return { use: stageKeyUse, purpose, version: String(version) };
}

export const stageKeyUse = 'portico-stage-key';

/**
 * The keys of these purposes as the table has them, read in one batch at first use and opened one by one as they are
 * needed. What is read stays in memory for ten minutes.
 */
export function openKeyRings<P extends KeyPurpose>(
  table: Table,
  wrapping: () => Promise<Pick<KeyWrapping, 'open'>>,
  purposes: readonly P[],
  now: () => number,
): KeyRings<P> {
  let known: ReadonlyMap<P, StageKey> = new Map();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const opened = new Map<string, Promise<Uint8Array>>();

  async function read(): Promise<void> {
    const found = await table.read(purposes.map(keys.stageKey));
    known = new Map(
      purposes.flatMap((purpose) => {
        const key = stageKeyOf(found.get(keys.stageKey(purpose)));
        return key ? [[purpose, key]] : [];
      }),
    );
    readAtMs = now();
  }

  async function keyOf(purpose: P, maxAgeMs = stageKeyRereadMs): Promise<StageKey> {
    if (!known.has(purpose) || now() - readAtMs >= maxAgeMs) {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    const key = known.get(purpose);
    if (!key) throw new Error(`The stage has no key for ${purpose}`);
    return key;
  }

  function open(purpose: P, { version, wrapped }: StageKey['versions'][number]): Promise<Uint8Array> {
    const name = `${purpose} ${Buffer.from(wrapped).toString('base64')}`;
    const plain =
      opened.get(name) ??
      wrapping()
        .then((by) => by.open(wrapped, stageKeyContext(purpose, version)))
        .catch((error: unknown) => {
          opened.delete(name);
          throw error;
        });
    opened.set(name, plain);
    return plain;
  }

  const versioned = async (purpose: P, one: StageKey['versions'][number]) => ({
    version: one.version,
    key: await open(purpose, one),
  });

  function ringOf(purpose: P): KeyRing {
    const versionIn = ({ versions }: StageKey, version: number) =>
      versions.find((one) => one.version === version);
    return {
      async current() {
        const key = await keyOf(purpose);
        const one = versionIn(key, key.current);
        if (!one) throw new Error(`The current key for ${purpose} is not there`);
        return versioned(purpose, one);
      },
      async find(version) {
        const key = await keyOf(purpose);
        const isLater = key.versions.every((one) => one.version < version);
        const one = versionIn(isLater ? await keyOf(purpose, stageKeyLookAgainMs) : key, version);
        return one && open(purpose, one);
      },
      async all() {
        const { versions, current, currentSinceMs } = await keyOf(purpose);
        const isEarlierGood = now() - currentSinceMs < longestEnrolmentMs;
        const good = versions
          .filter(({ version }) => version >= current || isEarlierGood)
          .sort((a, b) => Number(b.version === current) - Number(a.version === current));
        return Promise.all(good.map((one) => versioned(purpose, one)));
      },
    };
  }
  return Object.fromEntries(purposes.map((purpose) => [purpose, ringOf(purpose)])) as KeyRings<P>;
}
