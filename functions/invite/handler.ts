import { json } from '../../shared/carry/http/request.ts';
import { fhirResponse, jsonResponse } from '../../shared/carry/http/response.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { recordRefused } from '../../shared/identity/audit/record.ts';
import { once } from '../../shared/identity/gate/once.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { bulkAnswer, inviteMany } from '../../shared/identity/invitations/invite-many.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { routes } from '../routes.ts';

const services = coreServices(process.env, 'invite');

/** The same invite again finds what the first one wrote: after a crash it is simply repeated. */
const repeatable = { windowMs: 35_000, afterCrash: 'repeat' } as const;

export const handler = serve(services, routes.invite, (services) => ({
  invite: json(
    once(services, {
      ...repeatable,
      run: ({ caller, body }) => inviteUser(services, caller, body),
      answer: (membership) => fhirResponse(200, membership),
    }),
  ),
  inviteMany: once(services, {
    ...repeatable,
    async run({ caller, headers, bytes, traceId }) {
      const file = { contentType: headers['content-type'], bytes: bytes() };
      const answer = bulkAnswer(await inviteMany(services, caller, file), services.log, traceId);
      const attempt = { method: 'POST', route: routes.invite.invite.path, parameters: {} };
      await recordRefused(
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
}));
