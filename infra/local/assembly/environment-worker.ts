/**
 * The other side of `environment.ts`: one execution environment of a function, in a thread whose `process.env` is
 * what the function was given.
 */

import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { lambdaContext } from '../context.ts';
import type { LocalInvocation, Reported } from './environment.ts';

const { entry, exported, name } = workerData as { entry: string; exported: string; name: string };
const loaded = (await import(pathToFileURL(entry).href)) as Record<
  string,
  (event: unknown, context: unknown) => Promise<unknown>
>;

parentPort?.on('message', async ({ id, event, timeoutMs, tenantId }: LocalInvocation) => {
  const report = (reported: Reported) => parentPort?.postMessage(reported);
  try {
    const context = { ...lambdaContext(name, timeoutMs), ...(tenantId === undefined ? {} : { tenantId }) };
    const result = await loaded[exported]?.(JSON.parse(event), context);
    report({ id, result: JSON.stringify(result ?? null) });
  } catch (error) {
    const { name: kind, message, stack } = error instanceof Error ? error : new Error(String(error));
    report({ id, error: { name: kind, message, stack } });
  }
});
