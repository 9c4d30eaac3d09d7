import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { admit, requireAdministrator } from '../../shared/auth/actor.ts';
import { hashClientSecret, newClientSecret } from '../../shared/auth/client-secret.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';

/**
 * Gives a client a new secret; the old one is refused from then on. Access tokens that it got stay good
 * until they end.
 * @returns the ClientApplication with its `secret`, shown this once
 * @throws {Refusal} forbidden, not-found; conflict when it was rotated or deleted at the same time
 */
export async function rotateSecret(
  services: Services,
  caller: Caller,
  { projectId, clientId }: { projectId: string; clientId: string },
): Promise<Resource> {
  const { project } = caller;
  const id = isId(clientId) ? clientId : 'none';
  const clientKey = keys.resource(project, 'ClientApplication', id);
  const credentialKey = keys.client(id);
  const { actor, found } = await admit(services, caller, [clientKey, credentialKey]);
  requireAdministrator(actor, projectId);
  const client = resourceOf(found.get(clientKey));
  const credential = found.get(credentialKey);
  if (!client || credential?.project !== project) throw new Refusal('not-found', 'Not found');

  const secret = newClientSecret();
  const audited: Audited = {
    project,
    subtype: 'rotate-secret',
    action: 'U',
    outcome: '0',
    agent: { reference: actor.profile },
    entities: [{ reference: `ClientApplication/${id}` }],
  };
  try {
    await services.table.transact([
      {
        name: 'credential',
        update: credentialKey,
        set: 'SET secretHash = :next',
        // Of two at once only one is told a secret that works; a deleted client does not come back.
        if: 'secretHash = :seen',
        values: { ':next': hashClientSecret(secret), ':seen': credential.secretHash },
      },
      { name: 'audit', put: auditItem(audited, services.newId(), services.now()) },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Refusal('conflict', 'The secret was changed, or the client deleted, at the same time');
  }
  return { ...client, secret };
}
