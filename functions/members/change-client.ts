import { description, exactOptional, nullable, pipe } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, targetOf } from '../../shared/audit/who.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { flag, readText } from '../../shared/schema/values.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { type ClientState, clientState, findClient, readClient } from './client-state.ts';

const expiresText = 'expires must be an instant, such as 2030-01-31T12:00:00Z';
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

function parseInstant(text: string): number | undefined {
  const atMs = instant.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

export const changeClientBody = fields({
  expires: exactOptional(
    nullable(
      pipe(
        readText(expiresText, parseInstant),
        description('From when on it is refused: an instant to come; null for never'),
      ),
    ),
  ),
  endOldSecret: optional(
    pipe(flag('endOldSecret'), description('Refuses the secret before the present one at once')),
  ),
});

/**
 * Says when a client is refused from, and ends a secret that is being replaced. What is left out stays. Access
 * tokens that it got stay good until they end, within the hour.
 * @returns how it authenticates now
 * @throws {Refusal} invalid; not-found; conflict when it was deleted at the same time
 */
export async function changeClient(
  services: Services,
  caller: Caller<'administrator'>,
  { clientId, body }: { clientId: string; body: unknown },
): Promise<ClientState> {
  const { actor, client, credential } = await findClient(services, caller, clientId);
  const { expires, endOldSecret } = parse(changeClientBody, body);
  const nowMs = services.now();
  if (typeof expires === 'number' && credential.isPublic === true)
    throw invalidField('expires', 'A public client has nothing that expires: delete it instead');
  if (typeof expires === 'number' && expires <= nowMs)
    throw invalidField('expires', 'expires must be to come: a client that nobody needs any more is deleted');
  const removed = [...(expires === null ? ['expiresAtMs'] : []), ...(endOldSecret ? ['retiring'] : [])];
  const set = [
    ...(typeof expires === 'number' ? ['SET expiresAtMs = :expires'] : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
  ].join(' ');
  if (set === '') return clientState(client.id, credential, nowMs);
  const audited: Audited = {
    project: caller.project,
    subtype: 'change-client',
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
    entities: [targetOf(client)],
  };
  try {
    await services.table.transact([
      {
        name: 'credential',
        update: keys.client(client.id),
        set,
        // A deleted client does not come back, and one that was made public meanwhile stays without a date.
        if:
          typeof expires === 'number'
            ? 'attribute_exists(pk) AND attribute_not_exists(isPublic)'
            : 'attribute_exists(pk)',
        ...(typeof expires === 'number' ? { values: { ':expires': expires } } : {}),
      },
      { name: 'audit', put: auditItem(audited, services.newId(), nowMs) },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Refusal('conflict', 'The client was changed or deleted at the same time');
  }
  return readClient(services, caller, { clientId: client.id });
}
