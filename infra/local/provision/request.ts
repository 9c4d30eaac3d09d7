import type { ChangeRequest } from '../../../functions/provision/change-project.ts';
import type { NewAdministrator } from '../../../functions/provision/provision.ts';
import type { Request } from '../../../functions/provision/requests.ts';
import type { StageIssuerRequest } from '../../../functions/provision/stage-issuer.ts';
import { requireFeatures } from '../../../shared/project-features.ts';
import type { ProjectNumbers } from '../../../shared/project-settings.ts';
import { typedEntries } from '../../../shared/typed-keys.ts';
import { type Deed, numberOptions, readOptions, type Values } from './options.ts';

export interface Asked {
  request: Request | SpecRequest;
  /** Name of the stage; none means this machine. */
  deployed: string | undefined;
}

/** The two Projects that the HTTP spec runs with. */
export interface SpecRequest {
  forSpec: string;
  baseUrl: string;
}

type SettingOption = keyof ProjectNumbers | 'emitExecutions' | 'auditReads' | 'featuresOff' | 'idleMinutes';

/** @throws {Error} with what is wrong about the command line */
export function readRequest(args?: string[]): Asked {
  const { deed, values } = readOptions(args);
  const deployed = values.stage === undefined ? undefined : required(values, 'stage');
  if (deed === 'forSpec' && deployed === undefined) throw new Error('--stage is needed');
  return { deployed, request: requests[deed](values) };
}

const requests: Record<Deed, (values: Values) => Request | SpecRequest> = {
  forSpec: (values) => ({
    forSpec: required(values, 'for-spec'),
    baseUrl: required(values, 'base-url').replace(/\/$/, ''),
  }),
  forget: (values) => ({ forget: required(values, 'forget') }),
  issuer: (values) => ({ issuer: issuerOf(values) }),
  delete: (values) => ({ project: required(values, 'project'), delete: true }),
  recover: (values) => ({ project: required(values, 'project'), recover: required(values, 'recover') }),
  administrator: (values) => ({ project: required(values, 'project'), admin: administratorOf(values) }),
  change: (values) => ({
    project: required(values, 'project'),
    ...(values.paused || values.resumed ? { paused: values.paused === true } : {}),
    ...(typeof values.disabled === 'boolean' ? { disabled: values.disabled } : {}),
    ...settingsOf(values),
  }),
  create: (values) => ({
    name: required(values, 'name'),
    admin: administratorOf(values),
    ...(values.client ? { client: true } : {}),
    ...settingsOf(values),
  }),
};

function required(values: Values, option: string): string {
  const { [option]: value } = values;
  if (typeof value !== 'string' || value === '') throw new Error(`--${option} is needed`);
  return value;
}

function administratorOf(values: Values): NewAdministrator {
  const email = required(values, 'admin');
  const firstName = String(values['first-name'] ?? (email.split('@', 1)[0] || email));
  const { ADMIN_PASSWORD: password } = process.env;
  return {
    ...{ email, firstName, lastName: String(values['last-name'] ?? 'Administrator') },
    ...(password ? { password } : {}),
  };
}

function settingsOf(values: Values): Pick<ChangeRequest, SettingOption> {
  const {
    'emit-executions': emitted,
    'audit-reads': reads,
    'features-off': off,
    'idle-minutes': idle,
  } = values;
  const numbers = typedEntries(numberOptions).map(([name, option]) => count(name, values[option]));
  return {
    ...Object.assign({}, ...numbers),
    ...(typeof emitted === 'boolean' ? { emitExecutions: emitted } : {}),
    ...(typeof reads === 'boolean' ? { auditReads: reads } : {}),
    ...(typeof off === 'string'
      ? { featuresOff: requireFeatures(off === 'none' ? [] : off.split(',')) }
      : {}),
    ...(idle === undefined ? {} : { idleMinutes: idle === '' ? Number.NaN : Number(idle) }),
  };
}

/** A secret on the command line would be seen by every other user of the machine. */
function issuerOf(values: Values): StageIssuerRequest['issuer'] {
  const issuer = required(values, 'issuer');
  if (values.remove) return { issuer, remove: true };
  const clientId = required(values, 'issuer-client');
  const clientSecret = process.env.ISSUER_CLIENT_SECRET;
  return { issuer, clientId, ...(clientSecret ? { clientSecret } : {}) };
}

function count(name: keyof ProjectNumbers, given: string | boolean | undefined): ProjectNumbers {
  if (given === undefined) return {};
  if (!/^[1-9]\d{0,8}$/.test(String(given))) throw new Error(`${name} must be a positive number`);
  return { [name]: Number(given) };
}
