import { freePort } from '../../infra/local/gateway/listen.ts';
import { openBrowser } from '../../infra/site/browser.ts';

type Browser = Awaited<ReturnType<typeof openBrowser>>;

/** A browser for all of jest's workers, started when the first asks for it: each file has windows of its own in it. */
export function keepBrowser() {
  let starting: Promise<{ url: string; browser: Browser }> | undefined;

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
    /** Where it is asked by its protocol for debuggers. */
    async url(): Promise<string> {
      starting ??= start();
      return (await starting).url;
    },
    async stop(): Promise<void> {
      await (await starting)?.browser.close();
    },
  };
}
