import { isId } from '../../../shared/fhir/resource.ts';
import { isInvitationSecret } from '../../../shared/invitation/link.ts';
import { type Standing, standingOf, stateOf } from '../../../shared/invitation/state.ts';
import type { KeyRings } from '../../../shared/keys/key-ring.ts';
import type { KeyPurpose } from '../../../shared/keys/purposes.ts';
import { isDisabled } from '../../../shared/project-settings.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import { deadLinkText } from '../bodies.ts';

export interface LoginServices extends Services {
  keyRings: KeyRings<Exclude<KeyPurpose, 'run-token'>>;
}

/**
 * The pending invitation that a link speaks for.
 * @throws {Refusal} invalid, one text for a link that is expired, revoked, superseded, used or made up,
 *   or of a disabled Project
 */
export async function requireLink(
  services: LoginServices,
  { id, secret }: { id: string; secret: string },
): Promise<Standing> {
  const [project = '', membershipId = '', generation = ''] = id.split('.');
  if (!isId(project) || !isId(membershipId)) throw deadLink();
  const key = keys.resource(project, 'ProjectMembership', membershipId);
  const projectKey = keys.resource(project, 'Project', project);
  const found = await services.table.read([key, projectKey]);
  const standing = standingOf(found.get(key));
  if (!standing || isDisabled(found.get(projectKey))) throw deadLink();
  const { invitation } = standing;
  const link = { project, membershipId, ...invitation };
  const isLive =
    String(invitation.generation) === generation &&
    stateOf(invitation, services.now()) === 'pending' &&
    (await isInvitationSecret(services.keyRings['invitation-link'], link, secret));
  if (!isLive) throw deadLink();
  return standing;
}

export function deadLink(): Refusal {
  return new Refusal('invalid', deadLinkText);
}
