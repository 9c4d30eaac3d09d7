import { keyPurposes } from '../../shared/keys/purposes.ts';
import { stageKeyOf, writeStageKey } from '../../shared/keys/stage-key.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Recovery } from './recovery.ts';

/**
 * A key of the stage that was replaced since stays replaced, and second factors that were enrolled since are good. What
 * the restored table has of a version that was retired since opens too: it holds what that version made.
 */
export async function keepStageKeys({ table, lost }: Recovery): Promise<void> {
  if (!lost) return;
  const wanted = keyPurposes.map(keys.stageKey);
  const [then, since] = await Promise.all([table.read(wanted), lost.read(wanted)]);
  for (const purpose of keyPurposes) {
    const before = stageKeyOf(then.get(keys.stageKey(purpose)));
    const last = stageKeyOf(since.get(keys.stageKey(purpose)));
    if (!last) continue;
    const { versions, current, currentSinceMs } = last;
    const earlier = (before?.versions ?? []).filter(
      ({ version }) => !versions.some((one) => one.version === version),
    );
    await writeStageKey(
      table,
      purpose,
      { versions: [...earlier, ...versions], current, currentSinceMs },
      before,
    );
  }
}
