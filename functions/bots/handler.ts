import { invokerServices } from '../../shared/bot/open-execute-services.ts';
import { requireVariable } from '../../shared/env.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { authenticated, lambdaHandler } from '../../shared/http/endpoint.ts';
import { once } from '../../shared/http/once.ts';
import { allOk } from '../../shared/http/outcome.ts';
import { fhirResponse, jsonResponse, resourceResponse } from '../../shared/http/response.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { routes } from '../routes.ts';
import { changeSecrets } from './change-secrets.ts';
import { createBot } from './create-bot.ts';
import { deployBot } from './deploy-bot.ts';
import { changeFetchHosts, readFetchHosts } from './fetch-hosts.ts';
import { listExecutions } from './list-executions.ts';
import { listSecrets } from './list-secrets.ts';
import { listVersions } from './list-versions.ts';
import { rollBackBot } from './roll-back-bot.ts';

const core = invokerServices(process.env);
const { dataKeys } = stageKeys(requireVariable(process.env, 'KEYS'), core.table);
const services = { ...core, dataKeys };

export const handler = dispatch({
  [routeKey(routes.createBot)]: lambdaHandler(
    services,
    once(services, {
      row: routes.createBot,
      body: 'json',
      windowMs: 35_000,
      afterCrash: 'refuse',
      run: (caller, request) =>
        createBot(services, caller, { projectId: request.param('projectId'), body: request.json }),
      answer: (bot) => resourceResponse(201, bot, { location: `${services.baseUrl}/fhir/R4/Bot/${bot.id}` }),
    }),
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
  [routeKey(routes.botLogs)]: lambdaHandler(
    services,
    authenticated(
      routes.botLogs,
      'raw',
      (caller, { param, query }) => listExecutions(services, caller, { botId: param('id'), query }),
      (executions) => fhirResponse(200, executions),
    ),
  ),
  [routeKey(routes.fetchHosts)]: lambdaHandler(
    services,
    authenticated(
      routes.fetchHosts,
      'raw',
      (caller, { param }) => readFetchHosts(services, caller, { projectId: param('projectId') }),
      (hosts) => jsonResponse(200, hosts),
    ),
  ),
  [routeKey(routes.changeFetchHosts)]: lambdaHandler(
    services,
    authenticated(
      routes.changeFetchHosts,
      'json',
      (caller, { param, json }) =>
        changeFetchHosts(services, caller, { projectId: param('projectId'), body: json }),
      (hosts) => jsonResponse(200, hosts),
    ),
  ),
  [routeKey(routes.projectSecrets)]: lambdaHandler(
    services,
    authenticated(
      routes.projectSecrets,
      'raw',
      (caller, { param }) => listSecrets(services, caller, { projectId: param('projectId') }),
      (names) => jsonResponse(200, names),
    ),
  ),
  [routeKey(routes.changeProjectSecrets)]: lambdaHandler(
    services,
    authenticated(
      routes.changeProjectSecrets,
      'json',
      (caller, { param, json }) =>
        changeSecrets(services, caller, { projectId: param('projectId'), body: json }),
      (names) => jsonResponse(200, names),
    ),
  ),
  [routeKey(routes.botSecrets)]: lambdaHandler(
    services,
    authenticated(
      routes.botSecrets,
      'raw',
      (caller, { param }) =>
        listSecrets(services, caller, { projectId: param('projectId'), botId: param('botId') }),
      (names) => jsonResponse(200, names),
    ),
  ),
  [routeKey(routes.changeBotSecrets)]: lambdaHandler(
    services,
    authenticated(
      routes.changeBotSecrets,
      'json',
      (caller, { param, json }) =>
        changeSecrets(services, caller, { projectId: param('projectId'), botId: param('botId'), body: json }),
      (names) => jsonResponse(200, names),
    ),
  ),
});
