import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** A request to an environment: the event as JSON text, as Lambda hands it over. */
export interface LocalInvocation {
  id: number;
  event: string;
  timeoutMs: number;
  tenantId?: string;
}

/** What came of it: JSON text, or the error that the handler threw. */
export type Reported =
  | { id: number; result: string }
  | { id: number; error: { name: string; message: string; stack: string | undefined } };

export type FunctionEnvironment = ReturnType<typeof startEnvironment>;

interface EnvironmentOptions {
  name: string;
  /** What Lambda would unpack. */
  folder: string;
  /** `<file>.<export>` */
  handler: string;
  timeoutMs: number;
  variables: Readonly<Record<string, string>>;
}

let stripped: URL | undefined;

/** The other side, as JavaScript: a thread that strips types itself takes 40 ms of CPU for it. */
function runtime(): URL {
  const context = () => asModule(sourceOf('../context.ts'));
  stripped ??= new URL(asModule(sourceOf('environment-worker.ts').replace('../context.ts', context)));
  return stripped;
}

function sourceOf(file: string): string {
  return stripTypeScriptTypes(readFileSync(join(import.meta.dirname, file), 'utf8'));
}

function asModule(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source).replaceAll("'", '%27')}`;
}

/**
 * An execution environment: the unpacked code, loaded once in a thread of its own, with these variables and no others. A thread, because twenty processes are more than a laptop should
 * start; it shares neither modules nor `process.env` with the others. One that breaks off is replaced at the next call.
 */
export function startEnvironment(options: EnvironmentOptions) {
  const [file = '', exported = ''] = options.handler.split('.');
  const entry = join(options.folder, `${file}.mjs`);
  const waiting = new Map<number, Omit<PromiseWithResolvers<unknown>, 'promise'>>();
  let worker: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    const workerData = { entry, exported, name: options.name };
    const started = new Worker(runtime(), { workerData, env: { ...options.variables } });
    started.on('message', (reported: Reported) => {
      const one = waiting.get(reported.id);
      waiting.delete(reported.id);
      if ('result' in reported) one?.resolve(JSON.parse(reported.result));
      else one?.reject(Object.assign(new Error(reported.error.message), reported.error));
    });
    started.on('error', breakOff);
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      breakOff(new Error(`${options.name}: the environment has ended`));
    });
    return started;
  }

  function breakOff(error: Error): void {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  return {
    /** Calls may overlap, unlike Lambda's: the pool gives an environment one at a time where that counts. */
    invoke(event: unknown, tenantId?: string): Promise<unknown> {
      worker ??= start();
      const { promise, ...settling } = Promise.withResolvers<unknown>();
      const id = ++lastId;
      waiting.set(id, settling);
      const invocation = { id, event: JSON.stringify(event), timeoutMs: options.timeoutMs };
      worker.postMessage({ ...invocation, ...(tenantId === undefined ? {} : { tenantId }) });
      return promise;
    },
    async stop(): Promise<void> {
      const ending = worker;
      worker = undefined;
      await ending?.terminate();
    },
  };
}
