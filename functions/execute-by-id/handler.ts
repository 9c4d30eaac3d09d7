import { executeBot } from '../../shared/bot/execute-bot.ts';
import { executeServices } from '../../shared/composition/execute-services.ts';
import { executeRequest } from '../../shared/execute/execute-request.ts';
import { executeResponse } from '../../shared/execute/execute-response.ts';
import { serve } from '../../shared/http/serve.ts';
import { routes } from '../routes.ts';

const services = executeServices(process.env);

export const handler = serve(services, routes['execute-by-id'], (services) => ({
  executeById: async (request) => {
    const target = request.params;
    const executed = await executeBot(services, request.caller, target, executeRequest(request));
    return executeResponse(services.baseUrl, executed, request.traceId);
  },
}));
