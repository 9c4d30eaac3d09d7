import { coreServices } from '../../shared/core-services.ts';
import { requireVariable } from '../../shared/env.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { type Provisioned, type ProvisionRequest, provision } from './provision.ts';

const services = coreServices(process.env);
const keys = stageKeys(requireVariable(process.env, 'KEYS'), services.table);

/** The stage secret exists before the first Project does: the other functions may only read it. */
export async function handler(event: ProvisionRequest): Promise<Provisioned> {
  await keys.secret();
  return provision(services, event);
}
