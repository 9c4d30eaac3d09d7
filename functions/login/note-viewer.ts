import { activeGrant, type EmergencyHeads } from '../../shared/access/emergency.ts';
import { noteNamed } from '../../shared/disclosure.ts';
import type { Standing } from '../../shared/invitation/state.ts';
import { auditsReads } from '../../shared/project-settings.ts';
import type { Services } from '../../shared/services.ts';

interface Names {
  /** Of the membership and of its Project. */
  heads: EmergencyHeads;
  /** The login on its way, where there is one. */
  login?: { id: string; clientId: string };
  /** References of whom the answer names. */
  named: readonly string[];
}

/** Notes for the access record to whom a route without a caller names people, and whom it names. */
export function noteViewer(
  { disclosure, memory, now }: Services,
  { membership }: Standing,
  { heads, login, named }: Names,
): void {
  if (!disclosure) return;
  const { id, project, profile } = membership;
  if (profile.display !== undefined) memory.names.set(id, profile.display);
  disclosure.viewer = {
    project: project.reference.replace(/^Project\//, ''),
    profile: profile.reference,
    membershipId: id,
    clientId: login?.clientId ?? '',
    ...(login ? { loginId: login.id } : {}),
  };
  disclosure.isAudited = auditsReads(heads.project);
  disclosure.isEmergency = activeGrant(membership, heads, now()) !== undefined;
  for (const reference of named) noteNamed(disclosure, reference);
}
