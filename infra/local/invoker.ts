import { fileURLToPath } from 'node:url';
import { cachedGuest } from '../guest/build.ts';
import { supervise } from './supervise.ts';

export interface LocalInvoker {
  /** Of the Lambda Invoke API. */
  endpoint: string;
  functionName: string;
  stop(): Promise<void>;
}

/** Starts the invoker in its own process tree, with an empty environment. */
export async function startInvoker(): Promise<LocalInvoker> {
  let port = '';
  const program = fileURLToPath(new URL('./invoker-process.ts', import.meta.url));
  const child = await supervise({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', '--no-node-snapshot', program, await cachedGuest()],
    env: {},
    ready: /invoker listening on/,
    readyTimeoutMs: 20_000,
    onLine: (line) => {
      port = /invoker listening on (\d+)/.exec(line)?.[1] ?? port;
    },
  });
  return { endpoint: `http://127.0.0.1:${port}`, functionName: 'portico-invoker', stop: child.stop };
}
