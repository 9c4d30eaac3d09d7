import { isDeepStrictEqual } from 'node:util';
import { check, maxLength, pipe, string, trim } from 'valibot';
import { invalidField } from '../../base/refusal.ts';
import { isId, newMeta, type Reference, type Resource, type Stamp } from '../../base/resource.ts';
import { optionalField } from '../../base/schema.ts';
import { credentialOf, hashClientSecret } from '../../carry/keys/credential.ts';
import type { Services } from '../../carry/services.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { type Found, readItem, type Table } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { type NamedRights, policiesIn, type Rights, rightsOf } from '../../store/fhir/membership.ts';
import { createActions } from '../../store/items/change.ts';
import { inlineResource, isStanding } from '../../store/items/content.ts';
import { policyKey } from '../gate/actor.ts';
import { createProgramMembershipActions } from '../invitations/membership-actions.ts';
import { rightsEntries } from '../invitations/parse-rights.ts';
import { isOwnPage, redirectUrisOf } from '../sign-in/redirect-uri.ts';

/** What a Bot and a ClientApplication have in common when they are created. */
interface Program {
  name: string;
  description: string | undefined;
  rights: Rights;
}

const { admin, accessPolicy, access } = rightsEntries;

/**
 * Name, description and rights in the body of a new program.
 * @param label what it is, for messages: `Bot`, `Client`
 */
export function programEntries(label: string) {
  const required = `${label} name is required`;
  const name = `${label} name must be up to 200 characters without control characters`;
  return {
    name: pipe(
      string(required),
      trim(),
      check((text) => text !== '', required),
      maxLength(200, name),
      check((text) => !/\p{C}/u.test(text), name),
    ),
    description: optionalField(
      pipe(string('Description must be text'), maxLength(2000, 'Description is longer than 2000 characters')),
    ),
    admin,
    accessPolicy,
    access,
  };
}

/** A program as it was sent. */
export function programOf(
  sent: { name: string; description?: string | undefined } & Pick<
    NamedRights,
    'admin' | 'accessPolicy' | 'access'
  >,
): Program {
  const { name, description, admin, accessPolicy, access } = sent;
  return { name, description, rights: rightsOf({ admin, accessPolicy, access }) };
}

/** The policies that rights name, to be read with the rest. */
export function policyKeys(project: string, rights: Rights): Key[] {
  return policiesIn(rights).map(({ reference }) => policyKey(project, reference));
}

/** @throws {Refusal} invalid when a policy is not one of the Project */
export function requirePolicies(project: string, rights: Rights, found: Found): void {
  for (const { reference, expression } of policiesIn(rights)) {
    if (!isStanding(found.get(policyKey(project, reference))))
      throw invalidField(expression, `Access policy ${reference} does not exist`);
  }
}

interface ClientProgram extends Program {
  /** The public keys of a client that signs its assertions: where they are, or themselves (RFC 7517). */
  jwksUri?: string;
  jwks?: object;
  redirectUris?: readonly string[];
  postLogoutRedirectUris?: readonly string[];
  /** Shown to its owner once; only its hash is stored. Undefined for a public client, which keeps none. */
  secret: string | undefined;
}

/** A ClientApplication, its membership, its secret and its keys, as one transaction. */
export function newClient(program: ClientProgram, project: Reference, stamp: Stamp) {
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
  const all: Action[] = [
    ...createActions(stamp.project, client, { refs: 1, membershipId }),
    ...actions,
    { name: 'credential', put: credential, if: 'attribute_not_exists(pk)' },
  ];
  return { client, membership, actions: all };
}

/** A ClientApplication and its Project, by its id alone, as requests of no Project name it. */
export async function findClientApplication(
  table: Table,
  clientId: string,
): Promise<{ project: string; client: Resource } | undefined> {
  if (!isId(clientId)) return undefined;
  const project = credentialOf(await readItem(table, keys.client(clientId)))?.project;
  if (project === undefined) return undefined;
  const head = await readItem(table, keys.resource(project, 'ClientApplication', clientId));
  const client = inlineResource('ClientApplication', head);
  return client && { project, client };
}

/**
 * The own app takes codes under /app, any other client where it is registered, to the letter.
 * @returns the Project of the client; undefined for the own app
 * @throws {Refusal} invalid: there is nowhere to send the person to
 */
export async function requireRedirectUri(
  services: Services,
  { clientId, redirectUri }: { clientId: string; redirectUri: string },
): Promise<string | undefined> {
  // A built-in client belongs to no Project: it asks no issuer of one.
  const found = await findClientApplication(services.table, clientId);
  const known = found ? redirectUrisOf(found.client) : [];
  const isOwn = clientId === '' && isOwnPage(services.baseUrl, redirectUri);
  if (isOwn || known.includes(redirectUri)) return found?.project;
  throw invalidField('redirectUri', 'The client is not registered with this redirectUri');
}

/** Whether people sign in by a client, with rights of their own, whatever its own are: to make and to change one is for root. */
export function isAppOfPeople(client: Resource): boolean {
  return client.resourceType === 'ClientApplication' && redirectUrisOf(client).length > 0;
}

/** What says how a client authenticates, where it has people sent, and what they are shown. */
const signInFields = [
  ...['public', 'jwksUri', 'jwks', 'redirectUri', 'redirectUris'],
  ...['postLogoutRedirectUris', 'launchUri', 'signInForm'],
];

export function changesSignIn(before: Resource | undefined, after: Resource): boolean {
  return signInFields.some((name) => !isDeepStrictEqual(before?.[name], after[name]));
}
