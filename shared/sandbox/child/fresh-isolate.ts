/** An isolate with the runtime script in it and no code of a Bot yet. Serves one run. */

import type IsolatedVm from 'isolated-vm';
import type { Engine } from './engine.ts';

/** What the guest calls; answers with a string or undefined and never throws. */
export type GuestCall = (...parts: string[]) => string | undefined;

export interface FreshIsolate {
  memoryMb: number;
  isolate: IsolatedVm.Isolate;
  context: IsolatedVm.Context;
  /** Whom the guest reaches from now on. */
  listen: (call: GuestCall) => void;
  /** Calls into the guest and waits; only for what runs no code of the Bot. */
  tell: (operation: string, ...parts: unknown[]) => void;
  /** Calls into the guest in its own thread; rejects with what no code of the Bot caught. */
  deliver: (operation: string, ...parts: unknown[]) => Promise<unknown>;
  /** False for a name that is no library. The guest waits for it in a call. */
  loadLibrary: (name: string) => boolean;
  dispose: () => void;
}

/**
 * `onCatastrophe`: V8 has lost control of the isolate, and this process must die. `libraries` are loaded at
 * once, as if the Bot's first line had required them.
 */
export function freshIsolate(
  engine: Engine,
  memoryMb: number,
  onCatastrophe: () => void,
  libraries: Iterable<string> = [],
): FreshIsolate {
  const isolate = new engine.ivm.Isolate({ memoryLimit: memoryMb, onCatastrophicError: onCatastrophe });
  const context = isolate.createContextSync();
  let listener: GuestCall = (operation, name = '') =>
    operation === 'load' && loadLibrary(name) ? 'loaded' : undefined;
  const heard = (...parts: string[]) => listener(...parts);
  const ways = [new engine.ivm.Callback(heard), new engine.ivm.Callback(heard, { ignored: true })];
  const start = engine.runtime(isolate).runSync(context, { reference: true }) as IsolatedVm.Reference;
  const guest = start.applySync(undefined, ways, { result: { reference: true } }) as IsolatedVm.Reference;
  const tell = (...parts: unknown[]) => void guest.applySync(undefined, parts);
  const loadLibrary = (name: string) => {
    const load = engine.library(name)?.(isolate).runSync(context, { reference: true });
    if (load !== undefined) {
      tell('library', (load as IsolatedVm.Reference).derefInto());
    }
    return load !== undefined;
  };
  for (const name of libraries) {
    tell('preload', name);
  }
  return {
    memoryMb,
    isolate,
    context,
    listen: (next) => {
      listener = next;
    },
    tell,
    deliver: (...parts) => guest.apply(undefined, parts),
    loadLibrary,
    dispose: () => {
      if (!isolate.isDisposed) {
        isolate.dispose();
      }
    },
  };
}
