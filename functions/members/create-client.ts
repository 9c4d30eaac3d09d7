import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { agentOf, targetOf } from '../../shared/audit/who.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { newClientSecret } from '../../shared/keys/client-secret.ts';
import { isRedirectUri } from '../../shared/login/redirect-uri.ts';
import { newClient } from '../../shared/program/new-client.ts';
import { parseProgram, policyKeys, requirePolicies } from '../../shared/program/parse-program.ts';
import { Refusal, type RefusalIssue } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { parseClientKeys } from './parse-client-keys.ts';

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
  const { program, fields, issues } = parseProgram(body, 'Client');
  const redirectUris = parseRedirectUris(fields, 'redirectUris', issues);
  const postLogoutRedirectUris = parseRedirectUris(fields, 'postLogoutRedirectUris', issues);
  const clientKeys = parseClientKeys(fields, services.baseUrl, issues);
  const secret = parsePublic(fields, issues) ? undefined : newClientSecret();
  const { actor, found } = await admit(services, caller, policyKeys(caller.project, program.rights));
  if (issues.length > 0) throw new Refusal('invalid', 'The client is not valid', { issues });
  requirePolicies(caller.project, program.rights, found);

  const author = { reference: actor.profile };
  const stamp = { project: caller.project, nowMs: services.now(), author, newId: services.newId };
  const { client, membership, actions } = newClient(
    { ...program, redirectUris, postLogoutRedirectUris, ...clientKeys, secret },
    { reference: `Project/${caller.project}` },
    stamp,
  );
  const audited: Audited = {
    project: caller.project,
    subtype: 'create-client',
    action: 'C',
    outcome: '0',
    agent: agentOf(actor),
    entities: [targetOf(client), targetOf(membership)],
  };
  await services.table.transact([
    ...actions,
    { name: 'audit', put: auditItem(audited, services.newId(), stamp.nowMs) },
  ]);
  return secret === undefined ? client : { ...client, secret };
}

/** An app in a browser or on a phone can keep no secret (RFC 6749 section 2.1), and no private key. */
function parsePublic(fields: Record<string, unknown>, issues: RefusalIssue[]): boolean {
  const isPublic = fields.public ?? false;
  if (typeof isPublic !== 'boolean')
    issues.push({ expression: 'public', text: 'public must be true or false' });
  if (isPublic === true && (fields.jwks ?? fields.jwksUri) != null) {
    issues.push({ expression: 'public', text: 'A public client has no keys' });
  }
  return isPublic === true;
}

const mostRedirectUris = 20;

/** Where a browser may be sent; `redirectUris` may be the one `redirectUri` of older clients. */
function parseRedirectUris(
  fields: Record<string, unknown>,
  name: 'redirectUris' | 'postLogoutRedirectUris',
  issues: RefusalIssue[],
): string[] {
  const single = name === 'redirectUris' ? fields.redirectUri : undefined;
  const given = fields[name] ?? (single == null ? [] : [single]);
  if (Array.isArray(given) && given.length <= mostRedirectUris && given.every(isRedirectUri)) return given;
  issues.push({
    expression: fields[name] === undefined ? 'redirectUri' : name,
    text: 'A redirect URI is https, http on localhost, or of an app’s own scheme, without a fragment',
  });
  return [];
}
