import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { admit, requireAdministrator } from '../../shared/auth/actor.ts';
import { isRedirectUri } from '../../shared/auth/redirect-uri.ts';
import type { Caller } from '../../shared/auth/token.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { newClient } from '../../shared/program/new-client.ts';
import { parseProgram, policyKeys, requirePolicies } from '../../shared/program/parse-program.ts';
import { Refusal, type RefusalIssue } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { parseClientKeys } from './parse-client-keys.ts';

/**
 * Creates an API key: ClientApplication, membership and secret in one transaction.
 * @returns the ClientApplication with its `secret`, shown this once
 * @throws {Refusal} forbidden, invalid
 */
export async function createClient(
  services: Services,
  caller: Caller,
  { projectId, body }: { projectId: string; body: unknown },
): Promise<Resource> {
  const { program, fields, issues } = parseProgram(body, 'Client');
  const redirectUris = parseRedirectUris(fields, issues);
  const clientKeys = parseClientKeys(fields, services.baseUrl, issues);
  const { actor, found } = await admit(services, caller, policyKeys(caller.project, program.rights));
  requireAdministrator(actor, projectId);
  if (issues.length > 0) throw new Refusal('invalid', 'The client is not valid', { issues });
  requirePolicies(caller.project, program.rights, found);

  const author = { reference: actor.profile };
  const stamp = { project: caller.project, nowMs: services.now(), author, newId: services.newId };
  const { client, membership, secret, actions } = newClient(
    { ...program, redirectUris, ...clientKeys },
    { reference: `Project/${caller.project}` },
    stamp,
  );
  const audited: Audited = {
    project: caller.project,
    subtype: 'create-client',
    action: 'C',
    outcome: '0',
    agent: author,
    entities: [
      { reference: `ClientApplication/${client.id}` },
      { reference: `ProjectMembership/${membership.id}` },
    ],
  };
  await services.table.transact([
    ...actions,
    { name: 'audit', put: auditItem(audited, services.newId(), stamp.nowMs) },
  ]);
  return { ...client, secret };
}

const mostRedirectUris = 20;

/** `redirectUris`, or the one `redirectUri` of older clients. */
function parseRedirectUris(fields: Record<string, unknown>, issues: RefusalIssue[]): string[] {
  const { redirectUri, redirectUris } = fields;
  const given = redirectUris ?? (redirectUri == null ? [] : [redirectUri]);
  if (Array.isArray(given) && given.length <= mostRedirectUris && given.every(isRedirectUri)) return given;
  issues.push({
    expression: redirectUris === undefined ? 'redirectUri' : 'redirectUris',
    text: 'A redirect URI is https, http on localhost, or of an app’s own scheme, without a fragment',
  });
  return [];
}
