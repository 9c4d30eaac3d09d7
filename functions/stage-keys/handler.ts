import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeyMaking } from '../../shared/composition/stage-keys.ts';
import { requireVariable } from '../../shared/env.ts';
import type { KeyPurpose } from '../../shared/keys/purposes.ts';
import { answerCloudFormation } from './answer-cloudformation.ts';
import { ensureKeys } from './ensure-keys.ts';

const core = coreServices(process.env);
const services = { ...core, ...stageKeyMaking(requireVariable(process.env, 'KEYS'), core.table) };

/** What was made. */
interface Made {
  made: KeyPurpose[];
}

/**
 * Makes the keys of the stage: every deployment calls it before the functions that open them are made or changed.
 * Nobody but CloudFormation and operators may invoke it.
 */
export async function handler(event: CloudFormationCustomResourceEvent | { ensure: true }): Promise<Made> {
  let made: KeyPurpose[] = [];
  const work = async () => {
    made = await ensureKeys(services);
    if (made.length > 0) services.log.info('keys of the stage made', { purposes: made.join() });
  };
  if ('ResponseURL' in event) await answerCloudFormation(event, work);
  else await work();
  return { made };
}
