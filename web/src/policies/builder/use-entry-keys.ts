import { useRef } from 'react';

/**
 * A key for each of some entries that have no name, which stays with its entry when one above it is removed: what is
 * open or half typed in it does not pass to the next. Where the list was changed otherwise, an entry is its place.
 * @param count of entries as they are drawn now
 */
export function useEntryKeys(count: number): { keys: readonly number[]; remove(index: number): void } {
  const state = useRef({ keys: [] as number[], next: 0 });
  const { current } = state;
  while (current.keys.length < count) current.keys.push(current.next++);
  current.keys.length = count;
  return {
    keys: current.keys,
    remove: (index) => {
      current.keys = current.keys.toSpliced(index, 1);
    },
  };
}
