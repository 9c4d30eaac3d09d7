import { derivedKey, type KeyPurpose, keyPurposes } from '../../shared/carry/keys/key-ring.ts';
import { stageKeyContext, stageKeyOf, writeStageKey } from '../../shared/carry/keys/stage-key.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import type { StageKeyMaking } from '../../shared/composition/stage-keys.ts';

export interface KeyServices extends StageKeyMaking {
  table: Table;
  now(): number;
}

/**
 * Makes the first version of the key of every purpose that has none yet. On a stage of an earlier release, which had one
 * secret for all purposes, it is what derived from that secret, so that what was made with it stays good. Safe to
 * repeat, to race and to be cut off.
 * @returns the purposes that had no key
 */
export async function ensureKeys(services: KeyServices): Promise<KeyPurpose[]> {
  const { table, now } = services;
  const found = await table.read(keyPurposes.map(keys.stageKey));
  const missing = keyPurposes.filter(
    (purpose) => stageKeyOf(found.get(keys.stageKey(purpose))) === undefined,
  );
  if (missing.length === 0) return [];
  const [wrapping, earlier] = await Promise.all([services.wrapping(), services.earlierSecret()]);
  for (const purpose of missing) {
    const context = stageKeyContext(purpose, 1);
    const wrapped = earlier
      ? await wrapping.wrap(derivedKey(earlier, purpose), context)
      : await wrapping.makeWrapped(context);
    const madeAtMs = now();
    const first = { versions: [{ version: 1, wrapped, madeAtMs }], current: 1, currentSinceMs: madeAtMs };
    // Of two that make it at once, one writes: nobody has used the other's.
    await writeStageKey(table, purpose, first, undefined);
  }
  return missing;
}
