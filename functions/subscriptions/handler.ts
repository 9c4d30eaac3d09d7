import { coreServices } from '../../shared/composition/core-services.ts';
import { openQueues } from '../../shared/composition/queues.ts';
import { json, optionalJson } from '../../shared/http/json-body.ts';
import { done, fhirResponse } from '../../shared/http/response.ts';
import { serve } from '../../shared/http/serve.ts';
import { routes } from '../routes.ts';
import { listDeliveries } from './list-deliveries.ts';
import { redeliver } from './redeliver.ts';
import { resend } from './resend.ts';

const services = {
  ...coreServices(process.env),
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
