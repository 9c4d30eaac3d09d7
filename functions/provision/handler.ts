import { requireVariable } from '../../shared/base/env.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openQueues } from '../../shared/composition/queues.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import { stageIssuer } from '../../shared/identity/issuers/manage-issuers.ts';
import { addAdministrator, recoverAdministrator } from '../../shared/identity/projects/administrators.ts';
import { changeProject } from '../../shared/identity/projects/change-settings.ts';
import { deleteProject } from '../../shared/identity/projects/delete-project.ts';
import { forgetUser } from '../../shared/identity/projects/forget-user.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import {
  type OperatorAnswer,
  type OperatorRequest,
  requireFields,
} from '../../shared/identity/projects/requests.ts';
import { forgetEarlierSecret, retireStageKey } from '../../shared/identity/projects/retire-stage-key.ts';

const core = coreServices(process.env);
const { keyRings } = stageKeys(requireVariable(process.env, 'KEYS'), core.table, ['issuer-secret']);
const queues = openQueues(process.env, ['subscription-status']);
const services = { ...core, queues, keyRings, issuers: openIssuers(openIssuerWeb(core), core.now) };

/** Half of what the function has: a page more fits in. */
const workMs = 7_000;

export async function handler(event: OperatorRequest): Promise<OperatorAnswer> {
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
