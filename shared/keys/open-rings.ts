import { longestEnrolmentMs, stageKeyLookAgainMs, stageKeyRereadMs } from '../limits.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { KeyWrapping } from './data-keys.ts';
import type { KeyRing, KeyRings } from './key-ring.ts';
import type { KeyPurpose } from './purposes.ts';
import { type StageKey, stageKeyContext, stageKeyOf } from './stage-key.ts';

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
