import { json, optionalJson } from '../../shared/carry/http/request.ts';
import { done, fhirResponse } from '../../shared/carry/http/response.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openQueues } from '../../shared/composition/queues.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { listDeliveries, redeliver, resend } from '../../shared/records/subscriptions/deliveries.ts';
import { routes } from '../routes.ts';

const services = {
  ...coreServices(process.env, 'subscriptions'),
  queues: openQueues(process.env, ['deliveries', 'subscriptions']),
};

export const handler = serve(services, routes.subscriptions, (services) => ({
  deliveries: async ({ caller, params, query }) =>
    fhirResponse(200, await listDeliveries(services, caller, { id: params.id, query })),
  redeliver: json(({ caller, params, body }) => done(redeliver(services, caller, { id: params.id, body }))),
  resend: optionalJson(({ caller, params, body }) =>
    done(resend(services, caller, { type: params.resourceType, id: params.id, body })),
  ),
}));
