import { coreServices } from '../../shared/core-services.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { authenticated, lambdaHandler } from '../../shared/http/endpoint.ts';
import { fhirResponse, jsonResponse, resourceResponse } from '../../shared/http/response.ts';
import { routes } from '../routes.ts';
import { createClient } from './create-client.ts';
import { readMember } from './read-member.ts';
import { readProject } from './read-project.ts';

const services = coreServices(process.env);

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
  [routeKey(routes.createClient)]: lambdaHandler(
    services,
    authenticated(
      routes.createClient,
      'json',
      (caller, request) =>
        createClient(services, caller, { projectId: request.param('projectId'), body: request.json }),
      (client) =>
        fhirResponse(201, client, { location: `${services.baseUrl}/fhir/R4/ClientApplication/${client.id}` }),
    ),
  ),
});
