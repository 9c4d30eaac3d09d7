import type { AddRequest } from './add-administrator.ts';
import type { Changed, ChangeRequest } from './change-project.ts';
import type { DeleteRequest, Deletion } from './deletion/delete-project.ts';
import type { ForgetRequest, Forgotten } from './forget-user.ts';
import type { Provisioned, ProvisionRequest } from './provision.ts';
import type { Recovered, RecoverRequest } from './recover-administrator.ts';
import type { StageIssuer, StageIssuerRequest } from './stage-issuer.ts';

/** The events that the function takes, one for each thing that it does. */
export type Request =
  | ProvisionRequest
  | StageIssuerRequest
  | ChangeRequest
  | RecoverRequest
  | AddRequest
  | DeleteRequest
  | ForgetRequest;

/** What it answers to one of them. */
export type Answer = Provisioned | StageIssuer | Changed | Recovered | Deletion | Forgotten;

/** The function as those see it who call it. */
export interface ProvisionHandler {
  (request: ProvisionRequest | AddRequest): Promise<Provisioned>;
  (request: StageIssuerRequest): Promise<StageIssuer>;
  (request: DeleteRequest): Promise<Deletion>;
  (request: Request): Promise<Answer>;
}
