interface Turns<Request, Result> {
  run(request: Request): Promise<Result>;
  /** Whether an error of `run` says that no place was free and nothing has been run. */
  isBusy(error: unknown): boolean;
  /** So many may wait, each so long. */
  mostWaiting: number;
  patienceMs: number;
}

/**
 * Lets calls that find no free place wait for one, first come first served as far as each fits. Whoever
 * finds too many waiting, or waits too long, gets the error that `run` gave it.
 */
export function inTurn<Request, Result>({ run, isBusy, mostWaiting, patienceMs }: Turns<Request, Result>) {
  const waiting = new Set<() => void>();
  const wakeAll = () => {
    for (const wake of waiting) wake();
  };
  return async (request: Request): Promise<Result> => {
    for (const untilMs = Date.now() + patienceMs; ; ) {
      try {
        const result = await run(request);
        wakeAll();
        return result;
      } catch (error) {
        const leftMs = untilMs - Date.now();
        const isBusyNow = isBusy(error);
        // A place that was free is free again; one that was not must wake nobody.
        if (!isBusyNow) wakeAll();
        if (!isBusyNow || waiting.size >= mostWaiting || leftMs <= 0) throw error;
        await turn(waiting, leftMs);
      }
    }
  };
}

async function turn(waiting: Set<() => void>, mostMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, mostMs);
  waiting.add(resolve);
  await promise;
  waiting.delete(resolve);
  clearTimeout(timer);
}
