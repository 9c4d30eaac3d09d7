import { typedKeys } from '../../base/values.ts';
import type { StageIssuer, StageIssuerRequest } from '../issuers/manage-issuers.ts';
import type { AddRequest, Recovered, RecoverRequest } from './administrators.ts';
import type { Changed, ChangeRequest } from './change-settings.ts';
import type { DeleteRequest, Deletion } from './delete-project.ts';
import type { ForgetRequest, Forgotten } from './forget-user.ts';
import type { Provisioned, ProvisionRequest } from './provision.ts';
import type {
  ForgetEarlierRequest,
  ForgottenEarlier,
  RetireKeyRequest,
  Retirement,
} from './retire-stage-key.ts';
import { settingBounds, settingFlags } from './settings.ts';

/** The events that the function takes, one for each thing that it does. */
export type OperatorRequest =
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
export type OperatorAnswer =
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
  (request: OperatorRequest): Promise<OperatorAnswer>;
}

const settings = [...typedKeys(settingBounds), ...typedKeys(settingFlags), 'featuresOff', 'idleMinutes'];

/** The fields of each event; the first one tells which it is, in this order. */
const events: readonly (readonly [string, ...string[]])[] = [
  ['forget'],
  ['retireKey'],
  ['forgetEarlierSecret'],
  ['issuer'],
  ['delete', 'project'],
  ['recover', 'project'],
  ['name', 'admin', 'client', ...settings],
  ['admin', 'project'],
  ['project', 'paused', 'disabled', ...settings],
];

const flags = ['client', 'paused', 'disabled', ...typedKeys(settingFlags)];
/** What is done by saying so is not undone by denying it. */
const onlyTrue = ['delete', 'forgetEarlierSecret'];

/**
 * Holds that an event asks for one thing, and names nothing that this thing does not take: whoever runs the
 * stage is not left to believe that it was done.
 * @throws {Error} otherwise
 */
export function requireFields(event: OperatorRequest): void {
  const given = new Map(Object.entries(event).filter(([, value]) => value !== undefined));
  const fields = events.find(([first]) => given.has(first));
  if (!fields) throw new Error('The event asks for nothing that there is');
  for (const [name, value] of given) {
    if (!fields.includes(name)) throw new Error(`${name} does not go with ${fields[0]}`);
    if (flags.includes(name) && typeof value !== 'boolean') throw new Error(`${name} must be true or false`);
    if (onlyTrue.includes(name) && value !== true) throw new Error(`${name} must be true`);
  }
}
