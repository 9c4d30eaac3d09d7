import { invokerServices } from '../../shared/bot/open-execute-services.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { authenticated, lambdaHandler } from '../../shared/http/endpoint.ts';
import { allOk } from '../../shared/http/outcome.ts';
import { fhirResponse, resourceResponse } from '../../shared/http/response.ts';
import { routes } from '../routes.ts';
import { createBot } from './create-bot.ts';
import { deployBot } from './deploy-bot.ts';
import { listVersions } from './list-versions.ts';
import { rollBackBot } from './roll-back-bot.ts';

const services = invokerServices(process.env);

export const handler = dispatch({
  [routeKey(routes.createBot)]: lambdaHandler(
    services,
    authenticated(
      routes.createBot,
      'json',
      (caller, request) =>
        createBot(services, caller, { projectId: request.param('projectId'), body: request.json }),
      (bot) => resourceResponse(201, bot, { location: `${services.baseUrl}/fhir/R4/Bot/${bot.id}` }),
    ),
  ),
  [routeKey(routes.deployBot)]: lambdaHandler(
    services,
    authenticated(
      routes.deployBot,
      'optional-json',
      (caller, { param, json, traceId }) =>
        deployBot(services, caller, { botId: param('id'), body: json, traceId }),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.rollBackBot)]: lambdaHandler(
    services,
    authenticated(
      routes.rollBackBot,
      'json',
      (caller, { param, json }) => rollBackBot(services, caller, { botId: param('id'), body: json }),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.botVersions)]: lambdaHandler(
    services,
    authenticated(
      routes.botVersions,
      'raw',
      (caller, { param, query }) => listVersions(services, caller, { botId: param('id'), query }),
      (versions) => fhirResponse(200, versions),
    ),
  ),
});
