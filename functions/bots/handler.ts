import { invokerServices } from '../../shared/composition/execute-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { requireVariable } from '../../shared/env.ts';
import { json, optionalJson } from '../../shared/http/json-body.ts';
import { once } from '../../shared/http/once.ts';
import { done, fhirResponse, jsonResponse, resourceResponse } from '../../shared/http/response.ts';
import { serve } from '../../shared/http/serve.ts';
import { routes } from '../routes.ts';
import { changeSecrets } from './change-secrets.ts';
import { createBot } from './create-bot.ts';
import { deployBot } from './deploy-bot.ts';
import { listFailures } from './failures/list-failures.ts';
import { changeFetchHosts, readFetchHosts } from './fetch-hosts.ts';
import { listExecutions } from './list-executions.ts';
import { listSecrets } from './list-secrets.ts';
import { listVersions } from './list-versions.ts';
import { readCode } from './read-code.ts';
import { rollBackBot } from './roll-back-bot.ts';
import { runFigures } from './run-figures.ts';

const core = invokerServices(process.env);
const { dataKeys } = stageKeys(requireVariable(process.env, 'KEYS'), core.table);
const services = { ...core, dataKeys };

export const handler = serve(services, routes.bots, (services) => ({
  createBot: json(
    once(services, {
      windowMs: 35_000,
      afterCrash: 'refuse',
      run: ({ caller, body }) => createBot(services, caller, body),
      answer: (bot) => resourceResponse(201, bot, { location: `${services.baseUrl}/fhir/R4/Bot/${bot.id}` }),
    }),
  ),
  deployBot: optionalJson(({ caller, params, body, traceId }) =>
    done(deployBot(services, caller, { botId: params.id, body, traceId })),
  ),
  rollBackBot: json(({ caller, params, body }) =>
    done(rollBackBot(services, caller, { botId: params.id, body })),
  ),
  botVersions: async ({ caller, params, query }) =>
    fhirResponse(200, await listVersions(services, caller, { botId: params.id, query })),
  botCode: async ({ caller, params, query }) =>
    fhirResponse(200, await readCode(services, caller, { botId: params.id, query })),
  botFigures: async ({ caller, params, query }) =>
    fhirResponse(200, await runFigures(services, caller, { botId: params.id, query })),
  botLogs: async ({ caller, params, query }) =>
    fhirResponse(200, await listExecutions(services, caller, { botId: params.id, query })),
  failures: async ({ caller, query }) => jsonResponse(200, await listFailures(services, caller, query)),
  fetchHosts: async ({ caller }) => jsonResponse(200, await readFetchHosts(services, caller)),
  changeFetchHosts: json(async ({ caller, body }) =>
    jsonResponse(200, await changeFetchHosts(services, caller, body)),
  ),
  projectSecrets: async ({ caller }) => jsonResponse(200, await listSecrets(services, caller, {})),
  changeProjectSecrets: json(async ({ caller, body }) =>
    jsonResponse(200, await changeSecrets(services, caller, { body })),
  ),
  botSecrets: async ({ caller, params }) => jsonResponse(200, await listSecrets(services, caller, params)),
  changeBotSecrets: json(async ({ caller, params, body }) =>
    jsonResponse(200, await changeSecrets(services, caller, { ...params, body })),
  ),
}));
