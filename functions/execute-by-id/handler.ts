import { executeBot } from '../../shared/bots/run/execute.ts';
import { executeRequest, executeResponse } from '../../shared/bots/run/execute-http.ts';
import { executeServices } from '../../shared/composition/execute-services.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { routes } from '../routes.ts';

const services = executeServices(process.env, 'execute-by-id');

export const handler = serve(services, routes['execute-by-id'], (services) => ({
  executeById: async (request) => {
    const target = request.params;
    const executed = await executeBot(services, request.caller, target, executeRequest(request));
    return executeResponse(services.baseUrl, executed, request.traceId);
  },
}));
