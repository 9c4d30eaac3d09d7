import { recordAllRefused } from '../../shared/audit/refused.ts';
import { coreServices } from '../../shared/core-services.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { lambdaHandler } from '../../shared/http/endpoint.ts';
import { once } from '../../shared/http/once.ts';
import { fhirResponse, jsonResponse } from '../../shared/http/response.ts';
import { routes } from '../routes.ts';
import { bulkAnswer } from './bulk-answer.ts';
import { inviteMany } from './invite-many.ts';
import { inviteUser } from './invite-user.ts';

const services = coreServices(process.env);

/** The same invite again finds what the first one wrote: after a crash it is simply repeated. */
const repeatable = { windowMs: 35_000, afterCrash: 'repeat' } as const;

export const handler = dispatch({
  [routeKey(routes.invite)]: lambdaHandler(
    services,
    once(services, {
      ...repeatable,
      row: routes.invite,
      body: 'json',
      run: (caller, request) =>
        inviteUser(services, caller, { projectId: request.param('projectId'), body: request.json }),
      answer: (membership) => fhirResponse(200, membership),
    }),
  ),
  [routeKey(routes.inviteMany)]: lambdaHandler(
    services,
    once(services, {
      ...repeatable,
      row: routes.inviteMany,
      body: 'raw',
      async run(caller, request) {
        const results = await inviteMany(services, caller, {
          projectId: request.param('projectId'),
          contentType: request.headers['content-type'],
          bytes: request.bytes(),
        });
        const answer = bulkAnswer(results, services.log, request.traceId);
        const attempt = { method: 'POST', route: routes.invite.path, parameters: {} };
        await recordAllRefused(
          services,
          caller,
          answer.results.map(({ status }) => ({ ...attempt, status })),
        );
        return answer;
      },
      // A repeat is to carry out the rows that others, or the time, kept from being carried out.
      isFinal: ({ results }) => results.every(({ status }) => status < 429),
      answer: (answer) => jsonResponse(200, answer),
    }),
  ),
});
