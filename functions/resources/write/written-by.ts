import type { Actor } from '../../../shared/access/actor.ts';
import type { Change } from '../../../shared/store/change.ts';
import { writerOf } from '../../../shared/subscription/writer.ts';
import { versionPrefix } from '../../../shared/table/keys.ts';

/** The same change, whose version says in whose name it was made: what follows from it acts within their rights. */
export function writtenBy(change: Change, actor: Actor, isQuiet: boolean): Change {
  const by = writerOf(actor, isQuiet);
  return {
    ...change,
    state: change.state.map((item) => (item.sk.startsWith(versionPrefix) ? { ...item, by } : item)),
  };
}
