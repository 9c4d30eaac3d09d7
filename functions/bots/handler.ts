import { requireVariable } from '../../shared/base/env.ts';
import { changeSecrets, listSecrets } from '../../shared/bots/bot/change-secrets.ts';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { deployBot } from '../../shared/bots/bot/deploy-bot.ts';
import { listExecutions, runFigures } from '../../shared/bots/bot/executions.ts';
import { changeFetchHosts, readFetchHosts } from '../../shared/bots/bot/fetch-hosts.ts';
import { listVersions, readCode, rollBackBot } from '../../shared/bots/bot/versions.ts';
import { json, optionalJson } from '../../shared/carry/http/request.ts';
import { answered, done, fhirResponse, resourceResponse } from '../../shared/carry/http/response.ts';
import { invokerServices } from '../../shared/composition/execute-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { once } from '../../shared/identity/gate/once.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { listFailures } from '../../shared/records/failures.ts';
import { routes } from '../routes.ts';

const core = invokerServices(process.env, 'bots');
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
  failures: ({ caller, query }) => answered(listFailures(services, caller, query)),
  fetchHosts: ({ caller }) => answered(readFetchHosts(services, caller)),
  changeFetchHosts: json(({ caller, body }) => answered(changeFetchHosts(services, caller, body))),
  projectSecrets: ({ caller }) => answered(listSecrets(services, caller, {})),
  changeProjectSecrets: json(({ caller, body }) => answered(changeSecrets(services, caller, { body }))),
  botSecrets: ({ caller, params }) => answered(listSecrets(services, caller, params)),
  changeBotSecrets: json(({ caller, params, body }) =>
    answered(changeSecrets(services, caller, { ...params, body })),
  ),
}));
