import { coreServices } from '../../shared/core-services.ts';
import { lambdaHandler } from '../../shared/http/endpoint.ts';
import { once } from '../../shared/http/once.ts';
import { fhirResponse } from '../../shared/http/response.ts';
import { routes } from '../routes.ts';
import { inviteUser } from './invite-user.ts';

const services = coreServices(process.env);

export const handler = lambdaHandler(
  services,
  once(services, {
    row: routes.invite,
    body: 'json',
    windowMs: 20_000,
    // The same invite again finds what the first one wrote.
    afterCrash: 'repeat',
    run: (caller, request) =>
      inviteUser(services, caller, { projectId: request.param('projectId'), body: request.json }),
    answer: (membership) => fhirResponse(200, membership),
  }),
);
