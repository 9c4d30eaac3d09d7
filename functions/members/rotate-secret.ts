import { description, pipe } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, targetOf } from '../../shared/audit/who.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { hashClientSecret, newClientSecret } from '../../shared/keys/client-secret.ts';
import { Refusal } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { wholeNumber } from '../../shared/schema/values.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { findClient } from './client-state.ts';

const mostHours = 30 * 24;
const hoursText = `keepOldHours must be a whole number from 0 to ${mostHours}`;

export const rotateSecretBody = fields({
  keepOldHours: optional(
    pipe(
      wholeNumber(0, mostHours, hoursText),
      description(
        'How long the secret before stays good, so that programs can be moved over; 0 when left out',
      ),
    ),
  ),
});

/**
 * Gives a client a new secret; the old one is refused from then on, or after `keepOldHours`: of several
 * rotations within that time the last one says which two secrets there are. Access tokens that it got stay good
 * until they end. Of requests that overlap one is carried out: the secret that it answers is the one that works.
 * @param input.receivedAtMs when the request came in, ms since the epoch
 * @param input.body `{keepOldHours?}`, or nothing
 * @returns the ClientApplication with its `secret`, shown this once
 * @throws {Refusal} invalid; not-found; conflict when it was rotated or deleted at the same time
 */
export async function rotateSecret(
  services: Services,
  caller: Caller<'administrator'>,
  { clientId, receivedAtMs, body }: { clientId: string; receivedAtMs: number; body?: unknown },
): Promise<Resource> {
  const { project } = caller;
  const { actor, client, credential } = await findClient(services, caller, clientId);
  const credentialKey = keys.client(client.id);
  if (credential.isPublic === true) throw new Refusal('conflict', 'This client is public: it has no secret');
  if ((credential.rotatedAtMs ?? 0) >= receivedAtMs) throw rotatedMeanwhile();

  const { keepOldHours = 0 } = body === undefined ? {} : parse(rotateSecretBody, body);
  const seen = credential.secretHash;
  const untilMs = services.now() + keepOldHours * 60 * 60 * 1000;
  const retiring = seen !== undefined && keepOldHours > 0 ? { secretHash: seen, untilMs } : undefined;
  const secret = newClientSecret();
  const audited: Audited = {
    project,
    subtype: 'rotate-secret',
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
    entities: [targetOf(client)],
  };
  try {
    await services.table.transact([
      {
        name: 'credential',
        update: credentialKey,
        set: `SET secretHash = :next, rotatedAtMs = :now${retiring ? ', retiring = :old' : ' REMOVE retiring'}`,
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
          ...(retiring ? { ':old': retiring } : {}),
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
