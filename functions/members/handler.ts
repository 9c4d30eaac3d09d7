import { coreServices } from '../../shared/core-services.ts';
import { requireVariable } from '../../shared/env.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { authenticated, lambdaHandler } from '../../shared/http/endpoint.ts';
import { once } from '../../shared/http/once.ts';
import { allOk } from '../../shared/http/outcome.ts';
import type { HttpRequest } from '../../shared/http/request.ts';
import { fhirResponse, jsonResponse, resourceResponse } from '../../shared/http/response.ts';
import { openIssuerWeb } from '../../shared/issuer/issuer-web.ts';
import { openIssuers } from '../../shared/issuer/issuers.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { routes } from '../routes.ts';
import { addIssuer } from './add-issuer.ts';
import { resendInvitation, revokeInvitation } from './change-invitation.ts';
import { changeMember } from './change-member.ts';
import { createClient } from './create-client.ts';
import { listIssuers } from './list-issuers.ts';
import { listMembers } from './list-members.ts';
import { readMember } from './read-member.ts';
import { readProject } from './read-project.ts';
import { removeIssuer } from './remove-issuer.ts';
import { removeMember } from './remove-member.ts';
import { rotateSecret } from './rotate-secret.ts';
import { setMemberPassword } from './set-member-password.ts';

const core = coreServices(process.env);
const services = {
  ...core,
  secret: stageKeys(requireVariable(process.env, 'KEYS'), core.table).secret,
  issuers: openIssuers(openIssuerWeb(core), core.now),
};

export const handler = dispatch({
  [routeKey(routes.project)]: lambdaHandler(
    services,
    authenticated(
      routes.project,
      'raw',
      (caller, request) => readProject(services, caller, { projectId: request.param('projectId') }),
      (project) => jsonResponse(200, project),
    ),
  ),
  [routeKey(routes.member)]: lambdaHandler(
    services,
    authenticated(
      routes.member,
      'raw',
      (caller, request) =>
        readMember(services, caller, {
          projectId: request.param('projectId'),
          membershipId: request.param('membershipId'),
        }),
      (membership) => resourceResponse(200, membership),
    ),
  ),
  [routeKey(routes.members)]: lambdaHandler(
    services,
    authenticated(
      routes.members,
      'raw',
      (caller, request) => listMembers(services, caller, { ...named(request), query: request.query }),
      (list) => fhirResponse(200, list),
    ),
  ),
  [routeKey(routes.changeMember)]: lambdaHandler(
    services,
    authenticated(
      routes.changeMember,
      'json',
      (caller, request) => changeMember(services, caller, { ...named(request), body: request.json }),
      (membership) => resourceResponse(200, membership),
    ),
  ),
  [routeKey(routes.removeMember)]: lambdaHandler(
    services,
    authenticated(
      routes.removeMember,
      'raw',
      (caller, request) => removeMember(services, caller, named(request)),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.resendInvitation)]: lambdaHandler(
    services,
    authenticated(
      routes.resendInvitation,
      'raw',
      (caller, request) => resendInvitation(services, caller, named(request)),
      (membership) => resourceResponse(200, membership),
    ),
  ),
  [routeKey(routes.revokeInvitation)]: lambdaHandler(
    services,
    authenticated(
      routes.revokeInvitation,
      'raw',
      (caller, request) => revokeInvitation(services, caller, named(request)),
      (membership) => resourceResponse(200, membership),
    ),
  ),
  [routeKey(routes.issuers)]: lambdaHandler(
    services,
    authenticated(
      routes.issuers,
      'raw',
      (caller, request) => listIssuers(services, caller, { projectId: request.param('projectId') }),
      (list) => jsonResponse(200, list),
    ),
  ),
  [routeKey(routes.addIssuer)]: lambdaHandler(
    services,
    authenticated(
      routes.addIssuer,
      'json',
      (caller, request) =>
        addIssuer(services, caller, { projectId: request.param('projectId'), body: request.json }),
      (issuer) => jsonResponse(200, issuer),
    ),
  ),
  [routeKey(routes.removeIssuer)]: lambdaHandler(
    services,
    authenticated(
      routes.removeIssuer,
      'raw',
      (caller, request) =>
        removeIssuer(services, caller, {
          projectId: request.param('projectId'),
          issuerId: request.param('issuerId'),
        }),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.setMemberPassword)]: lambdaHandler(
    services,
    authenticated(
      routes.setMemberPassword,
      'json',
      (caller, request) =>
        setMemberPassword(services, caller, { projectId: request.param('projectId'), body: request.json }),
      () => fhirResponse(200, allOk()),
    ),
  ),
  // As clients of other servers call it, which name no Project.
  [routeKey(routes.setPasswordInOwnProject)]: lambdaHandler(
    services,
    authenticated(
      routes.setPasswordInOwnProject,
      'json',
      (caller, request) =>
        setMemberPassword(services, caller, { projectId: caller.project, body: request.json }),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.rotateSecret)]: lambdaHandler(
    services,
    authenticated(
      routes.rotateSecret,
      'raw',
      (caller, request) =>
        rotateSecret(services, caller, {
          projectId: request.param('projectId'),
          clientId: request.param('clientId'),
        }),
      (client) => fhirResponse(200, client),
    ),
  ),
  [routeKey(routes.createClient)]: lambdaHandler(
    services,
    once(services, {
      row: routes.createClient,
      body: 'json',
      windowMs: 20_000,
      afterCrash: 'refuse',
      run: (caller, request) =>
        createClient(services, caller, { projectId: request.param('projectId'), body: request.json }),
      // The secret is nowhere but in the first answer.
      keep: ({ secret: _shownOnce, ...client }) => client as Resource,
      answer: (client) =>
        fhirResponse(201, client, { location: `${services.baseUrl}/fhir/R4/ClientApplication/${client.id}` }),
    }),
  ),
});

function named(request: HttpRequest) {
  return { projectId: request.param('projectId'), membershipId: request.param('membershipId') };
}
