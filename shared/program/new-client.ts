import { hashClientSecret, newClientSecret } from '../auth/client-secret.ts';
import type { ProjectMembership } from '../fhir/membership.ts';
import type { Reference, Resource } from '../fhir/resource.ts';
import { newMeta, type Stamp } from '../fhir/stamp.ts';
import { createProgramMembershipActions } from '../invitation/new-membership.ts';
import { keys } from '../table/keys.ts';
import { createActions } from '../table/resource-item.ts';
import type { Action } from '../table/transact.ts';
import type { Program } from './parse-program.ts';

export interface NewClient {
  client: Resource;
  membership: ProjectMembership;
  /** Shown once; only its hash is stored. */
  secret: string;
  actions: Action[];
}

/** The public keys of a client that signs its assertions: where they are, or themselves (RFC 7517). */
export interface ClientKeys {
  jwksUri?: string;
  jwks?: object;
}

type ClientProgram = Program & ClientKeys & { redirectUris?: readonly string[] };

/** A ClientApplication, its membership, its secret and its keys, as one transaction. */
export function newClient(
  { name, description, rights, redirectUris = [], jwksUri, jwks }: ClientProgram,
  project: Reference,
  stamp: Stamp,
): NewClient {
  const id = stamp.newId();
  const membershipId = stamp.newId();
  const secret = newClientSecret();
  const client: Resource = {
    resourceType: 'ClientApplication',
    id,
    meta: newMeta(stamp),
    name,
    ...(description ? { description } : {}),
    ...(redirectUris.length > 0 ? { redirectUris } : {}),
    ...(jwksUri ? { jwksUri } : {}),
  };
  const { membership, actions } = createProgramMembershipActions(
    {
      id: membershipId,
      project,
      profile: { reference: `ClientApplication/${id}`, display: name },
      rights,
      invitedBy: stamp.author,
    },
    { project: stamp.project, versionId: stamp.newId(), nowMs: stamp.nowMs },
  );
  const credential = {
    ...keys.client(id),
    project: stamp.project,
    membershipId,
    secretHash: hashClientSecret(secret),
    ...(jwks ? { jwks } : {}),
  };
  return {
    client,
    membership,
    secret,
    actions: [
      ...createActions(stamp.project, client, { refs: 1, membershipId }),
      ...actions,
      { name: 'credential', put: credential, if: 'attribute_not_exists(pk)' },
    ],
  };
}
