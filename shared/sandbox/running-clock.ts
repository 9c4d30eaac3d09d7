/** How finely the time is counted: of a freeze no more than this counts. */
const TICK_MS = 25;

/**
 * Resolves when this process has been running for so long, in ms. Between two requests Lambda freezes an
 * environment for any time, this process and its children alike: that does not count, as nobody could do anything.
 */
export function afterRunning(ms: number): Promise<void> {
  return new Promise((resolve) => {
    let left = Math.ceil(ms / TICK_MS);
    const ticking = setInterval(() => {
      left -= 1;
      if (left > 0) return;
      clearInterval(ticking);
      resolve();
    }, TICK_MS).unref();
  });
}
