import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { agentOf, targetOf } from '../../shared/audit/who.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { hashClientSecret, newClientSecret } from '../../shared/keys/client-secret.ts';
import { credentialOf } from '../../shared/keys/credential.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';

/**
 * Gives a client a new secret; the old one is refused from then on. Access tokens that it got stay good
 * until they end. Of requests that overlap one is carried out: the secret that it answers is the one that works.
 * @param input.receivedAtMs when the request came in, ms since the epoch
 * @returns the ClientApplication with its `secret`, shown this once
 * @throws {Refusal} not-found; conflict when it was rotated or deleted at the same time
 */
export async function rotateSecret(
  services: Services,
  caller: Caller<'administrator'>,
  { clientId, receivedAtMs }: { clientId: string; receivedAtMs: number },
): Promise<Resource> {
  const { project } = caller;
  const id = isId(clientId) ? clientId : 'none';
  const clientKey = keys.resource(project, 'ClientApplication', id);
  const credentialKey = keys.client(id);
  const { actor, found } = await admit(services, caller, [clientKey, credentialKey]);
  const client = inlineResource('ClientApplication', found.get(clientKey));
  const credential = credentialOf(found.get(credentialKey));
  if (!client || credential?.project !== project) throw new Refusal('not-found', 'Not found');
  if (credential.isPublic === true) throw new Refusal('conflict', 'This client is public: it has no secret');
  if ((credential.rotatedAtMs ?? 0) >= receivedAtMs) throw rotatedMeanwhile();

  const seen = credential.secretHash;
  const secret = newClientSecret();
  const audited: Audited = {
    project,
    subtype: 'rotate-secret',
    action: 'U',
    outcome: '0',
    agent: agentOf(actor),
    entities: [targetOf(client)],
  };
  try {
    await services.table.transact([
      {
        name: 'credential',
        update: credentialKey,
        set: 'SET secretHash = :next, rotatedAtMs = :now',
        // A deleted client does not come back, and one that was made public meanwhile stays so.
        ...(seen === undefined
          ? {
              if: 'attribute_exists(pk) AND attribute_not_exists(secretHash) AND attribute_not_exists(isPublic)',
            }
          : { if: 'secretHash = :seen' }),
        values: {
          ':next': hashClientSecret(secret),
          ':now': services.now(),
          ...(seen === undefined ? {} : { ':seen': seen }),
        },
      },
      { name: 'audit', put: auditItem(audited, services.newId(), services.now()) },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw rotatedMeanwhile();
  }
  return { ...client, secret };
}

function rotatedMeanwhile(): Refusal {
  return new Refusal('conflict', 'The secret was changed, or the client deleted, at the same time');
}
