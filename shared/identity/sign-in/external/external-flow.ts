import { check, type InferOutput, picklist, pipe, string } from 'valibot';
import { invalidField, Refusal } from '../../../base/refusal.ts';
import { isId, parseReference } from '../../../base/resource.ts';
import { fields, optionalField, optionalText, parse, requiredText } from '../../../base/schema.ts';
import type { ExternalRequest } from '../../issuers/external-flow.ts';
import { readScope, scopeFault } from '../../policies/scope.ts';

/** Short enough for all of them to fit one cookie. */
const longest = 400;
const clientIdText = 'clientId must be an id';

export const externalEntries = {
  clientId: optionalField(
    pipe(
      string(clientIdText),
      check((id) => id === '' || isId(id), clientIdText),
    ),
  ),
  codeChallengeMethod: optionalField(
    picklist(['S256', 'plain'], 'codeChallengeMethod must be S256 or plain'),
  ),
  redirectUri: requiredText('redirectUri', longest),
  codeChallenge: requiredText('codeChallenge', longest),
  scope: optionalText('scope', longest),
  state: optionalText('state', longest),
  nonce: optionalText('nonce', longest),
};

const queryFields = fields({ ...externalEntries, projectId: optionalText('projectId', longest) });

/**
 * @param query with the names of RFC 6749, none twice
 * @throws {Refusal} invalid, naming the fields
 */
export function parseExternalQuery(query: URLSearchParams): {
  request: ExternalRequest;
  projectId: string | undefined;
} {
  if (new Set(query.keys()).size !== query.size) {
    throw new Refusal('invalid', 'A parameter must not be repeated');
  }
  const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  const given = Object.fromEntries([...query].map(([name, value]) => [camel(name), value]));
  const { projectId, ...sent } = parse(queryFields, given);
  return { request: externalRequest(sent), projectId };
}

type Sent = InferOutput<ReturnType<typeof fields<typeof externalEntries>>>;

/** @throws {Refusal} invalid for an unknown scope */
export function externalRequest(sent: Sent): ExternalRequest {
  const { clientId = '', codeChallengeMethod = 'plain', redirectUri, codeChallenge, state, nonce } = sent;
  const scope = readScope(sent.scope);
  if (scope === undefined) throw invalidField('scope', scopeFault(sent.scope));
  return { clientId, redirectUri, state, nonce, scope, codeChallenge, codeChallengeMethod };
}

/** The Project that is asked for, as the client's own or by name. @throws {Refusal} invalid when these differ */
export function wantedProject(
  given: string | undefined,
  clientProject: string | undefined,
): string | undefined {
  if (given !== undefined && !parseReference(`Project/${given}`)) {
    throw invalidField('projectId', 'projectId must be an id');
  }
  if (given !== undefined && clientProject !== undefined && given !== clientProject) {
    throw invalidField('projectId', 'The client belongs to another project');
  }
  return given ?? clientProject;
}
