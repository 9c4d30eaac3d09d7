import { fileURLToPath } from 'node:url';
import { cachedGuest } from '../../guest/build.ts';
import { supervise } from '../supervise.ts';

const functionName = 'portico-invoker';
const evaluatorName = 'portico-evaluator';

/**
 * Starts the invoker in its own process tree, with an empty environment, but for where Node keeps what it has compiled.
 * @param asset the unpacked asset of a synthesised one; without it the sources run
 * @returns `endpoint` of Lambda's Invoke operation, and the names that the one function has
 */
export async function startInvoker(asset?: string) {
  let endpoint = '';
  const program = fileURLToPath(new URL('./invoker-process.ts', import.meta.url));
  const source = asset === undefined ? ['guest', await cachedGuest()] : ['asset', asset];
  const { NODE_COMPILE_CACHE: compiled } = process.env;
  const { stop } = await supervise({
    command: process.execPath,
    args: [
      ...['--disable-warning=ExperimentalWarning', program],
      ...[...source, functionName, evaluatorName],
    ],
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
    cwd: '/',
    ready: /invoker listening on/,
    readyTimeoutMs: 60_000,
    onLine: (line) => {
      const said = /invoker listening on (\S+)/.exec(line)?.[1];
      if (said) endpoint = said;
      else process.stderr.write(`invoker: ${line}\n`);
    },
  });
  return { endpoint, functionName, evaluatorName, stop };
}
