import { requireIdleMinutes } from '../../shared/access/idle-time.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { targetOf } from '../../shared/audit/who.ts';
import { normaliseAddress } from '../../shared/email/address.ts';
import type { Reference } from '../../shared/fhir/resource.ts';
import { newMeta, type Stamp } from '../../shared/fhir/stamp.ts';
import { newClientSecret } from '../../shared/keys/client-secret.ts';
import { parseNewPassword } from '../../shared/login/parse-password.ts';
import { newClient } from '../../shared/program/new-client.ts';
import { type ProjectFeature, requireFeatures } from '../../shared/project-features.ts';
import {
  type ProjectNumbers,
  requireNumbers,
  settingBounds,
  settingFlags,
} from '../../shared/project-settings.ts';
import type { Services } from '../../shared/services.ts';
import { createActions } from '../../shared/store/resource-item.ts';
import { keys } from '../../shared/table/keys.ts';
import { ownerOf } from '../../shared/table/owner.ts';
import type { Action } from '../../shared/table/transact.ts';
import { typedKeys } from '../../shared/typed-keys.ts';
import { firstAdministrator } from './first-administrator.ts';

/** Who is to administer a Project. */
export interface NewAdministrator {
  email: string;
  firstName: string;
  lastName: string;
  /** Only for a User that this call creates: then a member at once, and no mail is sent. */
  password?: string;
}

/** The event of the provision function, which only IAM principals of the account may invoke. */
export interface ProvisionRequest extends ProjectNumbers {
  name: string;
  admin: NewAdministrator;
  /** Whether to create an API key with `admin: true` as well. */
  client?: boolean;
  /** Rate limit; 1,000 when left out. */
  invitesPerHour?: number;
  /** Lifetime of invitations, 1 to 30; 7 when left out. */
  invitationDays?: number;
  /** How long execution records are kept, 1 to 3,650; 365 when left out. */
  executionDays?: number;
  /** How many runs of Bots may go on at once, 1 to 1,000; left out, 50 of those that runs and jobs start. */
  concurrentRuns?: number;
  /** How many runs a run and all that follow from it may start, 1 to 1,000; 64 when left out. */
  treeRuns?: number;
  /** How many Subscriptions it may have, 1 to 1,000; 100 when left out. */
  subscriptions?: number;
  /** How many of its Bots may have a schedule, 1 to 1,000; 100 when left out. */
  schedules?: number;
  /** Whether the bus tells of its runs. */
  emitExecutions?: boolean;
  /** Whether AuditEvents are kept of what is read. */
  auditReads?: boolean;
  /** The features that it lacks; none when left out. */
  featuresOff?: readonly ProjectFeature[];
  /** After how many minutes without use people are signed out, 10 to 1,440; never when left out or 0. */
  idleMinutes?: number;
}

export interface Provisioned {
  project: { id: string; name: string };
  admin: { email: string; membershipId: string };
  client?: { id: string; secret: string };
}

/**
 * Creates a Project with its first administrator, who is invited like everybody else.
 * @throws {Error} when the request is not valid, or a password is given for a User that exists
 */
export async function provision(services: Services, request: ProvisionRequest): Promise<Provisioned> {
  const { name, admin } = request;
  if (!name || /\p{C}/u.test(name)) throw new Error(needed);
  requireNumbers(request);
  requireIdleMinutes(request.idleMinutes ?? 0);
  const { email, knownUserId } = await knownAdministrator(services, admin);

  const projectId = services.newId();
  const project = { reference: `Project/${projectId}`, display: name };
  const author = { reference: 'system' };
  const stamp: Stamp = { project: projectId, nowMs: services.now(), author, newId: services.newId };
  const member = await firstAdministrator(
    {
      ...admin,
      email,
      password: admin.password,
      knownUserId,
      project,
      invitationDays: request.invitationDays,
    },
    stamp,
  );
  const program = { name: `${name} client`, description: undefined, rights: { admin: true } };
  const secret = newClientSecret();
  const client = request.client ? newClient({ ...program, secret }, project, stamp) : undefined;
  await services.table.transact([
    ...projectActions(request, stamp),
    ...member.actions,
    ...(client?.actions ?? []),
    auditAction(stamp, [project, ...member.made, ...(client ? madeWith(client) : [])]),
  ]);
  return {
    project: { id: projectId, name },
    admin: { email, membershipId: member.membershipId },
    ...(client ? { client: { id: client.client.id, secret } } : {}),
  };
}

const needed = 'Needs name, admin.email, admin.firstName and admin.lastName';

/** The address of who is to administer, and their User where there is one. @throws {Error} */
export async function knownAdministrator(
  { table }: Services,
  admin: NewAdministrator,
): Promise<{ email: string; knownUserId: string | undefined }> {
  const email = normaliseAddress(admin?.email ?? '');
  if (!email || !admin.firstName || !admin.lastName) throw new Error(needed);
  if (admin.password !== undefined) {
    await parseNewPassword(admin.password, { field: 'admin.password', email });
  }
  const known = (await table.read([keys.address(email)])).get(keys.address(email));
  if (known && admin.password) throw new Error('This person exists already and has a password of their own');
  return { email, knownUserId: ownerOf(known) };
}

function projectActions(request: ProvisionRequest, stamp: Stamp): Action[] {
  const { name } = request;
  const resource = {
    resourceType: 'Project',
    id: stamp.project,
    meta: newMeta(stamp),
    name,
    features: ['bots'],
  };
  const settings = Object.fromEntries(typedKeys(settingBounds).map((setting) => [setting, request[setting]]));
  const isOn = typedKeys(settingFlags).filter((flag) => request[flag] === true);
  const told = Object.fromEntries(isOn.map((flag) => [flag, true]));
  const off = request.featuresOff ? { featuresOff: requireFeatures(request.featuresOff) } : {};
  const idle = request.idleMinutes ? { idleMinutes: request.idleMinutes } : {};
  return createActions(stamp.project, resource, { ...settings, ...told, ...off, ...idle });
}

function madeWith({ client, membership }: ReturnType<typeof newClient>): Reference[] {
  return [targetOf(client), targetOf(membership)];
}

function auditAction(stamp: Stamp, made: readonly Reference[]): Action {
  const audited: Audited = {
    project: stamp.project,
    subtype: 'provision',
    action: 'C',
    outcome: '0',
    agent: stamp.author,
    entities: made,
  };
  return { name: 'audit', put: auditItem(audited, stamp.newId(), stamp.nowMs) };
}
