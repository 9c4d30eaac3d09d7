import { coreServices } from '../../shared/composition/core-services.ts';
import { openQueues } from '../../shared/composition/queues.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { requireVariable } from '../../shared/env.ts';
import { openIssuerWeb } from '../../shared/issuer/issuer-web.ts';
import { openIssuers } from '../../shared/issuer/issuers.ts';
import { type Changed, type ChangeRequest, changeProject } from './change-project.ts';
import { type Provisioned, type ProvisionRequest, provision } from './provision.ts';
import { type StageIssuer, type StageIssuerRequest, stageIssuer } from './stage-issuer.ts';

const core = coreServices(process.env);
const { secret } = stageKeys(requireVariable(process.env, 'KEYS'), core.table);
const queues = openQueues(process.env, ['subscription-status']);
const services = { ...core, queues, secret, issuers: openIssuers(openIssuerWeb(core), core.now) };

/** The stage secret exists before the first Project does: the other functions may only read it. */
export async function handler(event: ProvisionRequest): Promise<Provisioned>;
export async function handler(event: StageIssuerRequest): Promise<StageIssuer>;
export async function handler(event: ChangeRequest): Promise<Changed>;
export async function handler(
  event: ProvisionRequest | StageIssuerRequest | ChangeRequest,
): Promise<Provisioned | StageIssuer | Changed> {
  await secret();
  if ('project' in event) return changeProject(services, event);
  return 'issuer' in event ? stageIssuer(services, event) : provision(services, event);
}
