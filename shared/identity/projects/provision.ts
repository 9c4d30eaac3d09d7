import { newMeta, type Reference, type Stamp } from '../../base/resource.ts';
import { typedKeys } from '../../base/values.ts';
import { newClientSecret } from '../../carry/keys/credential.ts';
import type { Services } from '../../carry/services.ts';
import { holderOfAddress } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import { createActions } from '../../store/items/change.ts';
import { type Audited, auditItem, targetOf } from '../audit/audit-event.ts';
import { requireIdleMinutes } from '../gate/idle-time.ts';
import { countAdministrator } from '../invitations/accept.ts';
import {
  createMembershipActions,
  createProfileActions,
  issueInvitation,
  outboxAction,
} from '../invitations/membership-actions.ts';
import { createUserActions, emailLogin, knownUserActions, personAction } from '../invitations/person.ts';
import { normaliseAddress } from '../mail/address.ts';
import { newClient } from '../memberships/program.ts';
import { hashPassword, parseNewPassword } from '../sign-in/password.ts';
import {
  type ProjectFeature,
  type ProjectNumbers,
  requireFeatures,
  requireNumbers,
  settingBounds,
  settingFlags,
} from './settings.ts';

interface FirstAdministrator {
  /** Normalised. */
  email: string;
  firstName: string;
  lastName: string;
  password: string | undefined;
  knownUserId: string | undefined;
  project: Reference;
  invitationDays: number | undefined;
}

/**
 * A Practitioner who administers the new Project: invited, or a member at once when given a password.
 * @returns `made`: references for the audit
 */
export async function firstAdministrator(
  person: FirstAdministrator,
  stamp: Stamp,
): Promise<{ membershipId: string; made: Reference[]; actions: Action[] }> {
  const { email, firstName, lastName, password, knownUserId } = person;
  const { project, nowMs } = stamp;
  const userId = knownUserId ?? stamp.newId();
  const membershipId = stamp.newId();
  const profileId = stamp.newId();
  const versionId = stamp.newId();
  const display = `${firstName} ${lastName}`;
  const profileType = 'Practitioner' as const;
  const issued = issueInvitation(0, password === undefined, nowMs, person.invitationDays);
  const invitation = password === undefined ? issued : { ...issued, state: 'accepted' as const };

  const { actions } = createMembershipActions(
    {
      id: membershipId,
      project: person.project,
      user: { reference: `User/${userId}`, display },
      profile: { reference: `${profileType}/${profileId}`, display },
      rights: { admin: true },
      active: password !== undefined,
      externalId: undefined,
      userName: email,
      invitedBy: stamp.author,
    },
    { userId, login: emailLogin(email), profileType, invitation },
    { project, versionId, nowMs },
  );
  const user = { id: userId, firstName, lastName, email, externalId: undefined, project: undefined };
  const profile = { ...user, id: profileId, type: profileType, patients: [] };
  const login = emailLogin(email);
  const known = {
    login,
    userId,
    scope: 'server' as const,
    memberships: { [profileType]: membershipId },
    profiles: {},
  };
  return {
    membershipId,
    made: [
      { reference: `ProjectMembership/${membershipId}`, display },
      { reference: `${profileType}/${profileId}` },
      { reference: `User/${userId}`, display },
    ],
    actions: [
      ...(knownUserId ? knownUserActions(userId, email) : createUserActions(user, { versionId, nowMs })),
      ...createProfileActions(profile, { ...stamp, versionId }),
      ...actions,
      personAction(project, known, { seen: undefined, nowMs }),
      ...(password === undefined
        ? [outboxAction(project, membershipId, email, invitation, { isFromOperator: true })]
        : [
            { name: 'password', put: { ...keys.password(userId), hash: await hashPassword(password) } },
            ...countAdministrator(project, 1),
          ]),
    ],
  };
}

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
  /** What it may have of a function's executions at once, in hundredths; what the stage says when left out. */
  requestShare?: number;
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
  { table, now }: Services,
  admin: NewAdministrator,
): Promise<{ email: string; knownUserId: string | undefined }> {
  const email = normaliseAddress(admin?.email ?? '');
  if (!email || !admin.firstName || !admin.lastName) throw new Error(needed);
  if (admin.password !== undefined) {
    await parseNewPassword(admin.password, { field: 'admin.password', email });
  }
  const known = (await table.read([keys.address(email)])).get(keys.address(email));
  const knownUserId = holderOfAddress(known, now());
  if (knownUserId !== undefined && admin.password)
    throw new Error('This person exists already and has a password of their own');
  return { email, knownUserId };
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
