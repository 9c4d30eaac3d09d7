import { lambdaInvoker, lambdaJobs } from '../aws/lambda.ts';
import { countVariable, type Environment, requireVariable } from '../base/env.ts';
import type { StageBounds } from '../bots/run/bounds.ts';
import {
  type DeployServices,
  type ExecuteServices,
  emptyBotMemory,
  type JobStarter,
} from '../bots/run/services.ts';
import type { SharedFunction } from '../carry/shares.ts';
import { coreServices } from './core-services.ts';
import { stageKeys } from './stage-keys.ts';

/** What functions need that reach the sandbox. */
export function invokerServices(env: Environment, shared?: SharedFunction): DeployServices {
  const invoker = lambdaInvoker(requireVariable(env, 'INVOKER_FUNCTION'), env.LAMBDA_ENDPOINT);
  return { ...coreServices(env, shared), invoker };
}

/** What functions need that run Bots. */
export function executeServices(env: Environment, shared?: SharedFunction): ExecuteServices {
  const services = invokerServices(env, shared);
  const { keyRings, dataKeys } = stageKeys(requireVariable(env, 'KEYS'), services.table, ['run-token']);
  return {
    ...services,
    runTokenKeys: keyRings['run-token'],
    dataKeys,
    botMemory: emptyBotMemory(),
    jobs: jobStarter(env),
    ...stageBounds(env),
  };
}

/** What the stage says of all Projects. */
export function stageBounds(env: Environment): StageBounds {
  const count = (name: string) => countVariable(env, name) || undefined;
  return { projectRuns: count('PROJECT_RUNS'), startedRuns: count('STARTED_RUNS') };
}

/** The function that runs jobs starts none itself. */
function jobStarter(env: Environment): JobStarter {
  const name = env.JOBS_FUNCTION;
  if (name) return lambdaJobs(name, env.JOBS_ENDPOINT);
  return { start: () => Promise.reject(new Error('The environment variable JOBS_FUNCTION is missing')) };
}
