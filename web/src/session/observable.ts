import { useSyncExternalStore } from 'react';

/** A value that lives outside of the page's components, and that they can follow. */
export type Observable<T> = ReturnType<typeof observable<T>>;

export function observable<T>(initial: T) {
  const listeners = new Set<() => void>();
  let value = initial;
  return {
    get: () => value,
    set(next: T) {
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The value as it is now, and drawn again when it is another. */
export function useObserved<T>({ get, subscribe }: Observable<T>): T {
  return useSyncExternalStore(subscribe, get);
}
