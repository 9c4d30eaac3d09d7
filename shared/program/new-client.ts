import type { ProjectMembership } from '../fhir/membership.ts';
import type { Reference, Resource } from '../fhir/resource.ts';
import { newMeta, type Stamp } from '../fhir/stamp.ts';
import { createProgramMembershipActions } from '../invitation/new-membership.ts';
import { hashClientSecret } from '../keys/client-secret.ts';
import { createActions } from '../store/resource-item.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import type { Program } from './parse-program.ts';

export interface NewClient {
  client: Resource;
  membership: ProjectMembership;
  actions: Action[];
}

/** The public keys of a client that signs its assertions: where they are, or themselves (RFC 7517). */
interface ClientKeys {
  jwksUri?: string;
  jwks?: object;
}

interface ClientProgram extends Program, ClientKeys {
  redirectUris?: readonly string[];
  postLogoutRedirectUris?: readonly string[];
  /** Shown to its owner once; only its hash is stored. Undefined for a public client, which keeps none. */
  secret: string | undefined;
}

/** A ClientApplication, its membership, its secret and its keys, as one transaction. */
export function newClient(program: ClientProgram, project: Reference, stamp: Stamp): NewClient {
  const id = stamp.newId();
  const membershipId = stamp.newId();
  const { name, description, rights, redirectUris, postLogoutRedirectUris, jwksUri, jwks, secret } = program;
  const client: Resource = {
    resourceType: 'ClientApplication',
    id,
    meta: newMeta(stamp),
    name,
    ...(description ? { description } : {}),
    ...(secret === undefined ? { public: true } : {}),
    ...(redirectUris?.length ? { redirectUris } : {}),
    ...(postLogoutRedirectUris?.length ? { postLogoutRedirectUris } : {}),
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
    ...(secret === undefined ? { isPublic: true } : { secretHash: hashClientSecret(secret) }),
    ...(jwks ? { jwks } : {}),
  };
  return {
    client,
    membership,
    actions: [
      ...createActions(stamp.project, client, { refs: 1, membershipId }),
      ...actions,
      { name: 'credential', put: credential, if: 'attribute_not_exists(pk)' },
    ],
  };
}
