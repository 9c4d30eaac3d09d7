import { newMeta, type Reference, type Stamp } from '../../base/resource.ts';
import { typedKeys } from '../../base/values.ts';
import { newClientSecret } from '../../carry/keys/credential.ts';
import type { Services } from '../../carry/services.ts';
import { holderOfAddress } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { createActions } from '../../store/items/change.ts';
import { auditAction, operator, targetOf } from '../audit/audit-event.ts';
import { requireIdleMinutes } from '../gate/idle-time.ts';
import { countAdministrator } from '../invitations/accept.ts';
import { createMember } from '../invitations/create-member.ts';
import type { Invite } from '../invitations/parse-invite.ts';
import { emailLogin } from '../invitations/person.ts';
import { normaliseAddress } from '../mail/address.ts';
import { newClient } from '../memberships/program.ts';
import { hashPassword, parseNewPassword } from '../sign-in/password.ts';
import {
  type ProjectFeature,
  type ProjectFlags,
  type ProjectNumbers,
  requireFeatures,
  requireNumbers,
  settingBounds,
  settingFlags,
} from './settings.ts';

/** Their address is normalised. */
interface FirstAdministrator extends NewAdministrator {
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
  const { email, firstName, lastName, project, password, knownUserId, invitationDays } = person;
  const isAccepted = password !== undefined;
  const nobody = { externalId: undefined, profile: undefined, password: undefined };
  const invite: Invite = {
    ...{ email, firstName, lastName, ...nobody },
    ...{ scope: 'server', profileType: 'Practitioner', rights: { admin: true } },
    ...{ sendEmail: !isAccepted, newProfile: false, upsert: false, forceNewMembership: false },
  };
  const known = {
    ...{ login: emailLogin(email), alias: undefined, person: undefined, isStranger: false },
    ...{ left: { login: undefined, alias: undefined }, leftAliasKey: undefined, notedProfile: undefined },
    ...{ knownUserId, projectName: project.display ?? '', invitationDays },
  };
  const passwordHash = isAccepted ? await hashPassword(password) : undefined;
  const how = { replaces: [], isAccepted, isFromOperator: true, passwordHash } as const;
  const by = { ...stamp, versionId: stamp.newId() };
  const { membership, actions } = createMember(invite, known, how, by);
  actions.push(...countAdministrator(stamp.project, isAccepted ? 1 : 0));
  const made = [targetOf(membership), { reference: membership.profile.reference }, membership.user];
  return { membershipId: membership.id, made, actions };
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
export interface ProvisionRequest extends ProjectNumbers, ProjectFlags {
  name: string;
  admin: NewAdministrator;
  /** Whether to create an API key with `admin: true` as well. */
  client?: boolean;
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
  const known = await knownAdministrator(services, admin);

  const projectId = services.newId();
  const project = { reference: `Project/${projectId}`, display: name };
  const { now, newId } = services;
  const stamp: Stamp = { project: projectId, nowMs: now(), author: operator, newId };
  const { invitationDays } = request;
  const about = { ...admin, ...known, project, invitationDays };
  const member = await firstAdministrator(about, stamp);
  const program = { name: `${name} client`, description: undefined, rights: { admin: true } };
  const secret = newClientSecret();
  const client = request.client ? newClient({ ...program, secret }, project, stamp) : undefined;
  await services.table.transact([
    ...projectActions(request, stamp),
    ...member.actions,
    ...(client?.actions ?? []),
    madeAudit(services, stamp, [
      ...[project, ...member.made],
      ...(client ? [targetOf(client.client), targetOf(client.membership)] : []),
    ]),
  ]);
  return {
    project: { id: projectId, name },
    admin: { email: known.email, membershipId: member.membershipId },
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
  const knownUserId = holderOfAddress(await readItem(table, keys.address(email)), now());
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

/** The entry of what was made in a Project. */
export function madeAudit(
  services: Services,
  { project, nowMs }: Stamp,
  entities: readonly Reference[],
): Action {
  const event = { subtype: 'provision', action: 'C', entities } as const;
  return auditAction(services, { project, agent: operator }, event, nowMs);
}
