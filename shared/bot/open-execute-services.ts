import { lambdaInvoker } from '../aws/lambda.ts';
import { coreServices } from '../core-services.ts';
import { type Environment, requireVariable } from '../env.ts';
import { stageKeys } from '../stage-keys.ts';
import { type ExecuteServices, emptyBotMemory, type InvokerServices } from './execute-services.ts';

/** What functions need that reach the sandbox. */
export function invokerServices(env: Environment): InvokerServices {
  const invoker = lambdaInvoker(requireVariable(env, 'INVOKER_FUNCTION'), env.LAMBDA_ENDPOINT);
  return { ...coreServices(env), invoker };
}

/** What functions need that run Bots. */
export function executeServices(env: Environment): ExecuteServices {
  const services = invokerServices(env);
  const { secret, dataKeys } = stageKeys(requireVariable(env, 'KEYS'), services.table);
  return { ...services, runSecret: secret, dataKeys, botMemory: emptyBotMemory() };
}
