import { array, description, maxLength, pipe } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { parseOfCaller } from '../../shared/access/parse-of-caller.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, targetOf } from '../../shared/audit/who.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { newClientSecret } from '../../shared/keys/client-secret.ts';
import { isRedirectUri, redirectUriText } from '../../shared/login/redirect-uri.ts';
import { newClient } from '../../shared/program/new-client.ts';
import {
  policyKeys,
  programEntries,
  programOf,
  requirePolicies,
} from '../../shared/program/parse-program.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { flag, readText, whole } from '../../shared/schema/values.ts';
import type { Services } from '../../shared/services.ts';
import { clientKeyEntries, requireUsableKeys } from './parse-client-keys.ts';

const mostRedirectUris = 20;
const redirectUri = readText(redirectUriText, (uri) => (isRedirectUri(uri) ? uri : undefined));
const redirectUris = whole(pipe(array(redirectUri), maxLength(mostRedirectUris)), redirectUriText);

export const createClientBody = fields({
  ...programEntries('Client'),
  redirectUris: optional(
    pipe(redirectUris, description('Where a browser may be sent with a code, to the letter')),
  ),
  redirectUri: optional(pipe(redirectUri, description('The one of older clients'))),
  postLogoutRedirectUris: optional(redirectUris),
  public: optional(
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
 * @throws {Refusal} invalid
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
  const { actor, found } = await admit(services, caller, policyKeys(caller.project, program.rights));
  requireUsableKeys(sent, services.baseUrl);
  const { jwks, jwksUri } = sent;
  requirePolicies(caller.project, program.rights, found);

  const author = { reference: actor.profile };
  const stamp = { project: caller.project, nowMs: services.now(), author, newId: services.newId };
  const { client, membership, actions } = newClient(
    {
      ...program,
      redirectUris,
      postLogoutRedirectUris,
      ...(jwks ? { jwks } : {}),
      ...(jwksUri === undefined ? {} : { jwksUri: new URL(jwksUri).href }),
      secret,
    },
    { reference: `Project/${caller.project}` },
    stamp,
  );
  const audited: Audited = {
    project: caller.project,
    subtype: 'create-client',
    action: 'C',
    outcome: '0',
    ...doneBy(actor),
    entities: [targetOf(client), targetOf(membership)],
  };
  await services.table.transact([
    ...actions,
    { name: 'audit', put: auditItem(audited, services.newId(), stamp.nowMs) },
  ]);
  return secret === undefined ? client : { ...client, secret };
}
