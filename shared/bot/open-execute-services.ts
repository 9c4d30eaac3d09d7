import { lambdaInvoker } from '../aws/lambda.ts';
import { coreServices } from '../core-services.ts';
import { type Environment, requireVariable } from '../env.ts';
import { type ExecuteServices, emptyBotMemory } from './execute-services.ts';

/** What the functions that run Bots need beside the rest. */
export function executeServices(env: Environment): ExecuteServices {
  return {
    ...coreServices(env),
    invoker: lambdaInvoker(requireVariable(env, 'INVOKER_FUNCTION'), env.LAMBDA_ENDPOINT),
    botMemory: emptyBotMemory(),
  };
}
