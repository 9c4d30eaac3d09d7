import type { Services } from '../../carry/services.ts';
import { ownerOfAddress } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, orThrow, whenConditionFailed } from '../../carry/table/transact.ts';
import { inlineResource } from '../../store/items/content.ts';
import { auditAction, details, operator, targetOf } from '../audit/audit-event.ts';
import { choicesOf } from '../invitations/choices.ts';
import type { Standing } from '../invitations/state.ts';
import { normaliseAddress } from '../mail/address.ts';
import { endLogins, noticeActions } from '../sign-in/logins.ts';
import { invalidPasswordAction } from '../sign-in/password.ts';
import {
  firstAdministrator,
  knownAdministrator,
  madeAudit,
  type NewAdministrator,
  type Provisioned,
} from './provision.ts';
import { stayingAction } from './settings.ts';

/** The event that lets an administrator of a Project sign in again who has lost their second factor. */
export interface RecoverRequest {
  /** Id of a Project. */
  project: string;
  /** Address of one of its administrators. */
  recover: string;
}

export interface Recovered {
  recovered: { email: string; membershipId: string };
}

/**
 * Lets an administrator begin their sign-in anew: the password that they have opens nothing any more, all their
 * logins end, and the second factor and the recovery codes are removed, in this order. They choose another password
 * by a mailed link before they can enrol a second factor, so whoever has learned the old one cannot enrol first.
 * A person without a password loses the logins and the second factor. May be repeated at any point; a password
 * that was chosen in between is replaced too.
 * @throws {Error} when there is no such active administrator of the Project, or their address was changed meanwhile
 */
export async function recoverAdministrator(services: Services, request: RecoverRequest): Promise<Recovered> {
  const email = normaliseAddress(request.recover) ?? '';
  const { project } = request;
  const addressKey = keys.address(email || 'none');
  const userId = ownerOfAddress(await readItem(services.table, addressKey));
  const { membership } = await requireAdministrator(services, project, userId);
  const id = userId ?? '';
  const audit = (recovered: string) =>
    auditAction(
      services,
      { project, agent: operator },
      {
        ...({ subtype: 'provision', action: 'U' } as const),
        entities: [{ reference: `User/${id}`, detail: details({ recovered }) }, targetOf(membership)],
      },
    );
  // The link to another password is mailed there: whoever has a login might move the address away meanwhile.
  const addressed: Action = {
    name: 'address',
    check: addressKey,
    if: 'userId = :user AND attribute_not_exists(keptUntilMs)',
    values: { ':user': id },
  };
  const hadPassword = await invalidatePassword(services, id, [addressed, audit('password made invalid')]);
  // No login begins with the password any more, and one that has ended enrols nothing.
  await endLogins(services, id);
  const notice = hadPassword ? 'sign-in-recovered' : 'second-factor-removed';
  const removed: Action[] = [
    { name: 'second factor', update: keys.mfa(id), set: 'REMOVE seed, lastStep, recovery' },
    ...noticeActions(notice, { userId: id, email, nowMs: services.now() }),
    addressed,
    audit('second factor removed'),
  ];
  await services.table.transact(removed).catch(orThrow(moved));
  return { recovered: { email, membershipId: membership.id } };
}

/** @returns whether there was a password */
async function invalidatePassword(
  { table }: Services,
  userId: string,
  more: readonly Action[],
): Promise<boolean> {
  const actions = [await invalidPasswordAction(userId), ...more];
  return table.transact(actions).then(
    () => true,
    whenConditionFailed((failed) => {
      if (failed.has('address')) throw moved();
      return false;
    }),
  );
}

function moved(): Error {
  return new Error(
    'Their address was changed meanwhile, and the second factor stays: find out whether it was them before you recover by the new one',
  );
}

async function requireAdministrator(
  services: Services,
  project: string,
  userId: string | undefined,
): Promise<Standing> {
  const standings = userId ? await choicesOf(services, userId, project, { mfa: true }) : [];
  const found = standings.find(({ membership: { active, admin } }) => active && admin === true);
  if (!found) throw new Error('This is no active administrator of the Project who signs in with a password');
  return found;
}

/** The event that gives a Project another administrator, where the last one has left for good. */
export interface AddRequest {
  /** Id of a Project. */
  project: string;
  admin: NewAdministrator;
}

/**
 * Invites an administrator into a Project that is there; with a password, a member at once.
 * @throws {Error} when there is no such Project, or it knows this person already
 */
export async function addAdministrator(services: Services, request: AddRequest): Promise<Provisioned> {
  const { project, admin } = request;
  const known = await knownAdministrator(services, admin);
  const head = await readItem(services.table, keys.resource(project, 'Project', project));
  const resource = inlineResource('Project', head);
  if (!resource) throw new Error('There is no such Project');
  const name = String(resource.name ?? project);
  const reference = { reference: `Project/${project}`, display: name };
  const stamp = { project, nowMs: services.now(), author: operator, newId: services.newId };
  const about = { ...admin, ...known, project: reference, invitationDays: undefined };
  const member = await firstAdministrator(about, stamp);
  // Nobody joins a Project that is being deleted: they would outlive it.
  const actions = [stayingAction(project), ...member.actions, madeAudit(services, stamp, member.made)];
  const refused = (failed: ReadonlySet<string>) =>
    failed.has('project')
      ? new Error('The Project is being deleted')
      : new Error('The Project knows this person already: an administrator of it, or --recover, can help');
  await services.table.transact(actions).catch(orThrow(refused));
  return { project: { id: project, name }, admin: { email: known.email, membershipId: member.membershipId } };
}
