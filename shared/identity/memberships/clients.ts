import { array, description, type InferOutput, looseObject, maxLength, pipe, string } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { isId, type Resource } from '../../base/resource.ts';
import { fields, flag, optionalField, readText, whole } from '../../base/schema.ts';
import { type Credential, credentialOf, newClientSecret, retiringOf } from '../../carry/keys/credential.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { untilWritten } from '../../carry/table/transact.ts';
import { inlineResource } from '../../store/items/content.ts';
import { auditAction, targetOf } from '../audit/audit-event.ts';
import type { Caller } from '../gate/access-token.ts';
import { type Actor, admit, parseOfCaller, requireRoot } from '../gate/actor.ts';
import { isLoopback, isWebUrl } from '../issuers/issuer.ts';
import { IssuerFault } from '../issuers/issuer-web.ts';
import { parseKeySet } from '../issuers/issuers.ts';
import { newProfile, provided, requireWithin, requireWithinMembers } from '../policies/bounds.ts';
import { isRedirectUri, redirectUriText } from '../sign-in/redirect-uri.ts';
import {
  isAppOfPeople,
  newClient,
  policyKeys,
  programEntries,
  programOf,
  requirePolicies,
} from './program.ts';

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

/**
 * A client of the administrator's own Project that they have in their hands: with its key they could do what it may.
 * @returns with what must still hold when it is written
 * @throws {Refusal} not-found; forbidden for one that may do more than they, and one by which people sign in
 */
export async function findOwnClient(services: Services, caller: Caller<'administrator'>, clientId: string) {
  const found = await findClient(services, caller, clientId);
  const { actor, client, credential } = found;
  if (isAppOfPeople(client)) requireRoot(actor);
  const through = { membershipId: credential.membershipId, of: `ClientApplication/${client.id}` };
  return { ...found, bounds: await requireWithinMembers(services, { caller, actor }, [through]) };
}

/** A client of the administrator's own Project. @throws {Refusal} not-found */
async function findClient(
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

const longestKeySetBytes = 32 * 1024;
const uriText = 'jwksUri must be an https URL';
const setText = 'jwks must be a JWK set of up to 32 KiB';

/** The public keys of a client that signs its assertions (RFC 7523): where it publishes them, or themselves. */
const clientKeyEntries = {
  jwksUri: optionalField(
    pipe(
      string(uriText),
      maxLength(1000, uriText),
      description('Where the client publishes its public keys (RFC 7523)'),
    ),
  ),
  jwks: optionalField(whole(looseObject({ keys: array(looseObject({ kty: string() })) }), setText)),
};

/**
 * @param baseUrl of our own API: where it is on loopback, `jwksUri` may be too
 * @throws {Refusal} invalid for keys that are not public, cannot be used, or belong to a public client
 */
function requireUsableKeys(sent: InferOutput<typeof createClientBody>, baseUrl: string): void {
  const { public: isPublic, jwksUri, jwks } = sent;
  if (isPublic && (jwks ?? jwksUri) !== undefined)
    throw invalidField('public', 'A public client has no keys');
  if (jwksUri !== undefined && jwks) throw invalidField('jwks', 'Give jwksUri or jwks, not both');
  if (jwksUri !== undefined) {
    const url = URL.parse(jwksUri);
    const onLoopback = isLoopback(new URL(baseUrl));
    if (!url || !isWebUrl(url, { onLoopback })) throw invalidField('jwksUri', uriText);
  }
  if (jwks?.keys.some((key) => key.d !== undefined || key.kty === 'oct')) {
    throw invalidField('jwks', 'jwks must hold public keys only: make new ones, these are known now');
  }
  if (jwks && !isKeySet(jwks)) throw invalidField('jwks', setText);
}

function isKeySet(jwks: object): boolean {
  try {
    parseKeySet(jwks);
    return JSON.stringify(jwks).length <= longestKeySetBytes;
  } catch (error) {
    if (error instanceof IssuerFault) return false;
    throw error;
  }
}

const mostRedirectUris = 20;
const redirectUri = readText(redirectUriText, (uri) => (isRedirectUri(uri) ? uri : undefined));
const redirectUris = whole(pipe(array(redirectUri), maxLength(mostRedirectUris)), redirectUriText);

export const createClientBody = fields({
  ...programEntries('Client'),
  redirectUris: optionalField(
    pipe(redirectUris, description('Where a browser may be sent with a code, to the letter')),
  ),
  redirectUri: optionalField(pipe(redirectUri, description('The one of older clients'))),
  postLogoutRedirectUris: optionalField(redirectUris),
  public: optionalField(
    pipe(
      flag('public'),
      description(
        'An app in a browser or on a phone: it can keep no secret (RFC 6749 section 2.1), and no key',
      ),
    ),
  ),
  ...clientKeyEntries,
});

/**
 * Creates an API key, or an app that people use: ClientApplication, membership and secret in one transaction.
 * @returns the ClientApplication with its `secret`, shown this once; without one when it is `public`
 * @throws {Refusal} invalid; forbidden for more than the caller holds, and for an app that people use unless by root
 */
export async function createClient(
  services: Services,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<Resource> {
  const sent = await parseOfCaller(services, caller, createClientBody, body);
  const program = programOf(sent);
  const { redirectUri, redirectUris = redirectUri ? [redirectUri] : [], postLogoutRedirectUris = [] } = sent;
  const secret = sent.public ? undefined : newClientSecret();
  return untilWritten(async () => {
    const { actor, found } = await admit(services, caller, policyKeys(caller.project, program.rights));
    requireUsableKeys(sent, services.baseUrl);
    const { jwks, jwksUri } = sent;
    requirePolicies(caller.project, program.rights, found);
    const grant = { membership: { ...program.rights, profile: newProfile('ClientApplication') } };
    const bounds = await requireWithin(services, { caller, actor }, [grant], found);

    const author = { reference: actor.profile };
    const stamp = { project: caller.project, nowMs: services.now(), author, newId: services.newId };
    const { client, membership, actions } = newClient(
      {
        ...{ ...program, redirectUris, postLogoutRedirectUris, secret },
        ...(jwks ? { jwks } : {}),
        ...(jwksUri === undefined ? {} : { jwksUri: new URL(jwksUri).href }),
      },
      { reference: `Project/${caller.project}` },
      stamp,
    );
    if (isAppOfPeople(client)) requireRoot(actor);
    const entities = [targetOf(client), targetOf(membership)];
    const event = { subtype: 'create-client', action: 'C', entities } as const;
    const audit = auditAction(services, actor, event, stamp.nowMs);
    await services.table.transact(provided([...actions, audit], bounds));
    return secret === undefined ? client : { ...client, secret };
  });
}
