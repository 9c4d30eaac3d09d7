import { coreServices } from '../../shared/composition/core-services.ts';
import { openQueues } from '../../shared/composition/queues.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { requireVariable } from '../../shared/env.ts';
import { openIssuerWeb } from '../../shared/issuer/issuer-web.ts';
import { openIssuers } from '../../shared/issuer/issuers.ts';
import { addAdministrator } from './add-administrator.ts';
import { changeProject } from './change-project.ts';
import { deleteProject } from './deletion/delete-project.ts';
import { forgetUser } from './forget-user.ts';
import { provision } from './provision.ts';
import { recoverAdministrator } from './recover-administrator.ts';
import type { Answer, Request } from './requests.ts';
import { requireFields } from './require-fields.ts';
import { forgetEarlierSecret, retireStageKey } from './retire-stage-key.ts';
import { stageIssuer } from './stage-issuer.ts';

const core = coreServices(process.env);
const { keyRings } = stageKeys(requireVariable(process.env, 'KEYS'), core.table, ['issuer-secret']);
const queues = openQueues(process.env, ['subscription-status']);
const services = { ...core, queues, keyRings, issuers: openIssuers(openIssuerWeb(core), core.now) };

/** Half of what the function has: a page more fits in. */
const workMs = 7_000;

export async function handler(event: Request): Promise<Answer> {
  requireFields(event);
  if ('forget' in event) return forgetUser(services, event);
  if ('retireKey' in event) return retireStageKey(services, event, services.now() + workMs);
  if ('forgetEarlierSecret' in event) return forgetEarlierSecret(services);
  if (!('project' in event))
    return 'issuer' in event ? stageIssuer(services, event) : provision(services, event);
  if ('delete' in event) return deleteProject(services, event, services.now() + workMs);
  if ('recover' in event) return recoverAdministrator(services, event);
  return 'admin' in event ? addAdministrator(services, event) : changeProject(services, event);
}
