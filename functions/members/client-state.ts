import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { type Credential, credentialOf, retiringOf } from '../../shared/keys/credential.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';

/** How a client authenticates, as its administrators see it; instants as FHIR writes them. */
export interface ClientState {
  client: { reference: string };
  membership: { reference: string };
  hasSecret: boolean;
  /** When the secret was last replaced. */
  rotated?: string;
  /** Until when the secret before is good too. */
  oldSecretUntil?: string;
  /** From when on it is refused. */
  expires?: string;
  /** To the hour; left out when it was never used. */
  lastUsed?: string;
}

/** A client of the administrator's own Project. @throws {Refusal} not-found */
export async function findClient(
  services: Services,
  caller: Caller<'administrator'>,
  clientId: string,
): Promise<{ actor: Actor; client: Resource; credential: Credential }> {
  const { project } = caller;
  const id = isId(clientId) ? clientId : 'none';
  const clientKey = keys.resource(project, 'ClientApplication', id);
  const credentialKey = keys.client(id);
  const { actor, found } = await admit(services, caller, [clientKey, credentialKey]);
  const client = inlineResource('ClientApplication', found.get(clientKey));
  const credential = credentialOf(found.get(credentialKey));
  if (!client || credential?.project !== project) throw new Refusal('not-found', 'Not found');
  return { actor, client, credential };
}

/** @throws {Refusal} not-found */
export async function readClient(
  services: Services,
  caller: Caller<'administrator'>,
  { clientId }: { clientId: string },
): Promise<ClientState> {
  const { client, credential } = await findClient(services, caller, clientId);
  return clientState(client.id, credential, services.now());
}

export function clientState(id: string, credential: Credential, nowMs: number): ClientState {
  const { membershipId, secretHash, rotatedAtMs, expiresAtMs, usedAtMs } = credential;
  const retiring = retiringOf(credential, nowMs);
  return {
    client: { reference: `ClientApplication/${id}` },
    membership: { reference: `ProjectMembership/${membershipId}` },
    hasSecret: secretHash !== undefined,
    ...(rotatedAtMs === undefined ? {} : { rotated: instant(rotatedAtMs) }),
    ...(retiring ? { oldSecretUntil: instant(retiring.untilMs) } : {}),
    ...(expiresAtMs === undefined ? {} : { expires: instant(expiresAtMs) }),
    ...(usedAtMs === undefined ? {} : { lastUsed: instant(usedAtMs) }),
  };
}

function instant(atMs: number): string {
  return new Date(atMs).toISOString();
}
