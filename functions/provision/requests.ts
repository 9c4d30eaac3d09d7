import type { AddRequest } from './add-administrator.ts';
import type { Changed, ChangeRequest } from './change-project.ts';
import type { DeleteRequest, Deletion } from './deletion/delete-project.ts';
import type { ForgetRequest, Forgotten } from './forget-user.ts';
import type { Provisioned, ProvisionRequest } from './provision.ts';
import type { Recovered, RecoverRequest } from './recover-administrator.ts';
import type {
  ForgetEarlierRequest,
  ForgottenEarlier,
  RetireKeyRequest,
  Retirement,
} from './retire-stage-key.ts';
import type { StageIssuer, StageIssuerRequest } from './stage-issuer.ts';

/** The events that the function takes, one for each thing that it does. */
export type Request =
  | ProvisionRequest
  | StageIssuerRequest
  | ChangeRequest
  | RecoverRequest
  | AddRequest
  | DeleteRequest
  | ForgetRequest
  | RetireKeyRequest
  | ForgetEarlierRequest;

/** What it answers to one of them. */
export type Answer =
  | Provisioned
  | StageIssuer
  | Changed
  | Recovered
  | Deletion
  | Forgotten
  | Retirement
  | ForgottenEarlier;

/** The function as those see it who call it. */
export interface ProvisionHandler {
  (request: ProvisionRequest | AddRequest): Promise<Provisioned>;
  (request: StageIssuerRequest): Promise<StageIssuer>;
  (request: DeleteRequest): Promise<Deletion>;
  (request: RetireKeyRequest): Promise<Retirement>;
  (request: Request): Promise<Answer>;
}
