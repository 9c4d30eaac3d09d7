import { coreServices } from '../../shared/core-services.ts';
import { authenticated, lambdaHandler } from '../../shared/http/endpoint.ts';
import { fhirResponse } from '../../shared/http/response.ts';
import { routes } from '../routes.ts';
import { inviteUser } from './invite-user.ts';

const services = coreServices(process.env);

export const handler = lambdaHandler(
  services,
  authenticated(
    routes.invite,
    'json',
    (caller, request) =>
      inviteUser(services, caller, { projectId: request.param('projectId'), body: request.json }),
    (membership) => fhirResponse(200, membership),
  ),
);
