import { Recent } from '../recent.ts';

interface Options {
  now(): number;
  /** How long what was loaded is used. */
  lifetimeMs: number;
  /** The least time between two loads, whoever asks and however the last one ended. */
  restMs: number;
}

interface Entry<V> {
  loading: Promise<V>;
  loadedAtMs: number;
  triedAtMs: number;
  failed: boolean;
}

/** What a process loaded by name, at most 100 of them. Who asks during a load waits for that one. */
export interface Remembered<V> {
  get(name: string): Promise<V>;
  /** Loads again unless that was tried a moment ago. One that fails takes away nothing that is good. */
  renew(name: string): Promise<V>;
}

export function remembered<V>(load: (name: string) => Promise<V>, options: Options): Remembered<V> {
  const { now, lifetimeMs, restMs } = options;
  const entries = new Recent<Entry<V>>(100);

  function start(name: string): Promise<V> {
    const entry = { loading: load(name), loadedAtMs: now(), triedAtMs: now(), failed: false };
    entry.loading.catch(() => {
      entry.failed = true;
    });
    entries.set(name, entry);
    return entry.loading;
  }

  return {
    get(name) {
      const entry = entries.get(name);
      const isUsable = entry && now() - entry.loadedAtMs < (entry.failed ? restMs : lifetimeMs);
      return isUsable ? entry.loading : start(name);
    },
    async renew(name) {
      const entry = entries.get(name);
      if (!entry) return start(name);
      if (now() - entry.triedAtMs < restMs) return entry.loading;
      entry.triedAtMs = now();
      const renewing = start(name);
      return renewing.catch((error: unknown) => {
        if (!entry.failed) entries.set(name, entry);
        throw error;
      });
    },
  };
}
