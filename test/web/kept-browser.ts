import { freePort } from '../../infra/local/gateway/listen.ts';
import { openBrowser } from '../../infra/site/browser.ts';

type Browser = Awaited<ReturnType<typeof openBrowser>>;

/**
 * A browser for each of jest's workers, started when one asks for it first, with windows of its own for each file. Not one for
 * all: whoever is connected to a browser hears of all of its windows, and answers dialogs that nobody there waits for.
 */
export function keepBrowsers() {
  const browsers = new Map<string, Promise<{ url: string; browser: Browser }>>();

  async function start() {
    const port = await freePort();
    const browser = await openBrowser([
      `--remote-debugging-port=${port}`,
      // What lives for a test needs no optimised code, and fewer rounds of the garbage collector.
      '--js-flags=--no-turbofan,--min-semi-space-size=32',
    ]);
    return { url: `http://127.0.0.1:${port}`, browser };
  }

  return {
    /** Where a worker's is asked by its protocol for debuggers. */
    async url(worker: string): Promise<string> {
      const starting = browsers.get(worker) ?? start();
      browsers.set(worker, starting);
      return (await starting).url;
    },
    async stop(): Promise<void> {
      await Promise.all([...browsers.values()].map(async (starting) => (await starting).browser.close()));
    },
  };
}
