import { resolve } from 'node:path';
import { fieldsOf } from '../../../shared/base/values.ts';
import { cachedGuest } from '../../guest/build.ts';
import type { DeployedFunction } from '../../permissions.ts';
import { openAssembly } from '../assembly/assembly.ts';
import { lambdaContext } from '../context.ts';
import { handlerLoader } from '../gateway/handlers.ts';

/** Every function that is deployed. */
export type Invocable = DeployedFunction | 'invoker';

export interface FunctionsHere {
  /** What the function's handler returns for an event. */
  invoke(name: Invocable, event: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const timeoutMs = 29_000;

/**
 * The functions in this process, in the environment of the stack that `withStack` has found or started.
 * @param from the output folder of `cdk synth`, whose bundles are to run; without it the sources do
 */
export async function functionsHere(from: string | undefined): Promise<FunctionsHere> {
  if (from !== undefined) return synthesisedFunctions(from);
  const load = handlerLoader();
  return {
    async invoke(name, event) {
      const handler = name === 'invoker' ? await invokerHandler() : ((await load(name)) as Handler);
      return handler(event, { ...lambdaContext(`portico-${name}`, timeoutMs), ...tenantOf(name, event) });
    },
    stop: async () => undefined,
  };
}

async function synthesisedFunctions(from: string): Promise<FunctionsHere> {
  const assembly = await openAssembly(resolve(from), ({ message }) => process.stderr.write(`${message}\n`));
  const set = Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  assembly.use(Object.fromEntries(set));
  return {
    async invoke(name, event) {
      const handler = (await assembly.load(name as DeployedFunction)) as (event: unknown) => Promise<unknown>;
      return handler(event);
    },
    stop: assembly.stop,
  };
}

async function invokerHandler(): Promise<Handler> {
  process.env.PORTICO_GUEST_DIR = await cachedGuest();
  const { handler } = await import('../../../functions/invoker/handler.ts');
  return handler as Handler;
}

/** Lambda is told the tenant by who invokes. */
function tenantOf(name: Invocable, event: unknown): { tenantId?: string } {
  const { project } = fieldsOf(event);
  return name === 'invoker' && typeof project === 'string' ? { tenantId: project } : {};
}
