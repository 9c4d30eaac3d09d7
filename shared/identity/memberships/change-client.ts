import { description, exactOptional, nullable, pipe } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { flag, onlyFields, optionalField, parse, readText, wholeNumber } from '../../base/schema.ts';
import { hashClientSecret, newClientSecret } from '../../carry/keys/credential.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Action, orThrow } from '../../carry/table/transact.ts';
import { auditAction, targetOf } from '../audit/audit-event.ts';
import type { Caller } from '../gate/access-token.ts';
import { provided } from '../policies/bounds.ts';
import { type ClientState, clientState, findOwnClient, readClient } from './clients.ts';

const expiresText = 'expires must be an instant, such as 2030-01-31T12:00:00Z';
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

function parseInstant(text: string): number | undefined {
  const atMs = instant.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

export const changeClientBody = onlyFields({
  expires: exactOptional(
    nullable(
      pipe(
        readText(expiresText, parseInstant),
        description('From when on it is refused: an instant to come; null for never'),
      ),
    ),
  ),
  endOldSecret: optionalField(
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
  const { actor, client, credential, bounds } = await findOwnClient(services, caller, clientId);
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
  const event = { subtype: 'change-client', action: 'U', entities: [targetOf(client)] } as const;
  const actions: Action[] = [
    {
      name: 'credential',
      update: keys.client(client.id),
      set,
      // A deleted client does not come back, and one that was made public meanwhile stays without a date.
      if: `attribute_exists(pk)${typeof expires === 'number' ? ' AND attribute_not_exists(isPublic)' : ''}`,
      ...(typeof expires === 'number' ? { values: { ':expires': expires } } : {}),
    },
    auditAction(services, actor, event, nowMs),
  ];
  const refused = () => new Refusal('conflict', 'The client was changed or deleted at the same time');
  await services.table.transact(provided(actions, bounds)).catch(orThrow(refused));
  return readClient(services, caller, { clientId: client.id });
}

const mostHours = 30 * 24;
const hoursText = `keepOldHours must be a whole number from 0 to ${mostHours}`;

export const rotateSecretBody = onlyFields({
  keepOldHours: optionalField(
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
  const { actor, client, credential, bounds } = await findOwnClient(services, caller, clientId);
  if (credential.isPublic === true) throw new Refusal('conflict', 'This client is public: it has no secret');
  if ((credential.rotatedAtMs ?? 0) >= receivedAtMs) throw rotatedMeanwhile();

  const { keepOldHours = 0 } = body === undefined ? {} : parse(rotateSecretBody, body);
  const seen = credential.secretHash;
  const untilMs = services.now() + keepOldHours * 60 * 60 * 1000;
  const retiring = seen !== undefined && keepOldHours > 0 ? { secretHash: seen, untilMs } : undefined;
  const secret = newClientSecret();
  const event = { subtype: 'rotate-secret', action: 'U', entities: [targetOf(client)] } as const;
  const actions: Action[] = [
    {
      name: 'credential',
      update: keys.client(client.id),
      set: `SET secretHash = :next, rotatedAtMs = :now${retiring ? ', retiring = :old' : ' REMOVE retiring'}`,
      // A deleted client does not come back, and one that was made public meanwhile stays so.
      if:
        seen === undefined
          ? 'attribute_exists(pk) AND attribute_not_exists(secretHash) AND attribute_not_exists(isPublic)'
          : 'secretHash = :seen',
      values: {
        ':next': hashClientSecret(secret),
        ':now': services.now(),
        ...(seen === undefined ? {} : { ':seen': seen }),
        ...(retiring ? { ':old': retiring } : {}),
      },
    },
    auditAction(services, actor, event),
  ];
  await services.table.transact(provided(actions, bounds)).catch(orThrow(rotatedMeanwhile));
  return { ...client, secret };
}

function rotatedMeanwhile(): Refusal {
  return new Refusal('conflict', 'The secret was changed, or the client deleted, at the same time');
}
