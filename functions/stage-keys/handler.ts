import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { requireVariable } from '../../shared/base/env.ts';
import { keyPurposes } from '../../shared/carry/keys/key-ring.ts';
import { type KeyState, keyStateOf, readStageKey } from '../../shared/carry/keys/stage-key.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeyMaking } from '../../shared/composition/stage-keys.ts';
import { answerCloudFormation } from './answer-cloudformation.ts';
import { ensureKeys } from './ensure-keys.ts';
import { rotateKey, type StageKeysRequest } from './rotate-key.ts';

const core = coreServices(process.env);
const services = { ...core, ...stageKeyMaking(requireVariable(process.env, 'KEYS'), core.table) };

/**
 * Makes the keys of the stage: every deployment calls it before the functions that open them are made or changed.
 * Operators have it show them and replace one. Nobody else may invoke it.
 */
export async function handler(
  event: CloudFormationCustomResourceEvent | StageKeysRequest,
): Promise<{ keys: KeyState[] }> {
  if ('ResponseURL' in event) {
    await answerCloudFormation(event, () => ensureKeys(services));
    return { keys: [] };
  }
  if ('step' in event) return { keys: [await rotateKey(services, event)] };
  if ('ensure' in event) await ensureKeys(services);
  const states = keyPurposes.map(async (one) => keyStateOf(one, await readStageKey(core.table, one)));
  return { keys: await Promise.all(states) };
}
