import { executeBot } from '../../shared/bot/execute-bot.ts';
import { parseBotIdentifier } from '../../shared/bot/identifier.ts';
import { executeServices } from '../../shared/bot/open-execute-services.ts';
import { authenticated, lambdaHandler } from '../../shared/http/endpoint.ts';
import { executeRequest } from '../../shared/http/execute-request.ts';
import { executeResponse } from '../../shared/http/execute-response.ts';
import { routes } from '../routes.ts';

const services = executeServices(process.env);

export const handler = lambdaHandler(
  services,
  authenticated(
    routes.executeByIdentifier,
    'raw',
    async (caller, request) =>
      executeBot(services, caller, parseBotIdentifier(request.query), executeRequest(request)),
    (executed, request) => executeResponse(services.baseUrl, executed, request.traceId),
  ),
);
