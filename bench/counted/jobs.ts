import type { Resource } from '../../shared/base/resource.ts';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { deployBot } from '../../shared/bots/bot/deploy-bot.ts';
import { listExecutions } from '../../shared/bots/bot/executions.ts';
import { executeBot } from '../../shared/bots/run/execute.ts';
import type { BotTarget } from '../../shared/bots/run/gather-run.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { createClient } from '../../shared/identity/memberships/clients.ts';
import { listMembers } from '../../shared/identity/memberships/list-members.ts';
import { clientCredentials } from '../../shared/identity/tokens/client-authentication.ts';
import { readResource } from '../../shared/records/read/read-resource.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { newProject, person, type Spent, type Stage, spentBy } from '../../test/storage/stage.ts';
import { countedServices } from './services.ts';

/** What people and programs do all day, in a Project of its own, ready to be done again and again. */
export interface Jobs {
  caller: Caller<'administrator'>;
  /** The Bot that is executed. */
  botId: string;
  /** What each costs when this process has done it before. */
  costs(): Promise<Record<Job, Spent>>;
}

const jobs = [
  'execute by id',
  'execute by identifier',
  'invite',
  'read a Patient',
  'search by identifier',
  'create a Patient',
  'list members',
  'list logs',
  'token',
] as const;
export type Job = (typeof jobs)[number];

const identifier = { system: 'https://example.org', value: 'counted' };
const patient = {
  resourceType: 'Patient',
  name: [{ family: 'Counted', given: ['Ann'] }],
  gender: 'female',
  birthDate: '1980-01-31',
};

export async function startJobs(stage: Stage): Promise<Jobs> {
  const services = countedServices(stage);
  const caller = await newProject(stage);
  const { id: botId } = await createBot(services, caller, { name: 'Bot', identifier: [identifier] });
  await deployBot(services, caller, { botId, body: { code: 'exports.handler = () => 1' }, traceId: 't' });
  const client = await createClient(services, caller, { name: 'Lab' });
  const create = (body: typeof patient & { identifier?: readonly object[] }) =>
    carryOut(services, caller, [{ kind: 'create', type: 'Patient', body }]);
  await create({ ...patient, identifier: [identifier] });
  const sought = {
    type: 'Patient',
    query: new URLSearchParams(`identifier=${identifier.system}|${identifier.value}`),
  };
  const found = (await searchResources(services, caller, sought)).entry?.[0]?.resource as
    | Resource
    | undefined;
  const signer = { kid: 'k', publicJwk: {}, sign: async () => new Uint8Array() };
  const execute = (target: BotTarget) => () =>
    executeBot(services, caller, target, {
      ...{ contentType: 'text/plain', headers: {}, traceId: 't' },
      body: Buffer.from('x'.repeat(200)),
    });
  const steps: Record<Job, () => Promise<unknown>> = {
    'execute by id': execute({ id: botId }),
    'execute by identifier': execute(identifier),
    invite: () => inviteUser(services, caller, person({ sendEmail: false })),
    'read a Patient': () => readResource(services, caller, { type: 'Patient', id: String(found?.id) }),
    'search by identifier': () => searchResources(services, caller, sought),
    'create a Patient': () => create(patient),
    'list members': () => listMembers(services, caller, new URLSearchParams('_count=5')),
    'list logs': () => listExecutions(services, caller, { botId, query: new URLSearchParams('_count=1') }),
    token: () =>
      clientCredentials(
        { ...services, signer: async () => signer },
        {
          ...{ grantType: 'client_credentials', parameter: () => undefined, usedBasic: false },
          client: { id: client.id, secret: String(client.secret) },
        },
      ),
  };
  return {
    caller,
    botId,
    async costs() {
      const costs = {} as Record<Job, Spent>;
      for (const job of jobs) {
        await steps[job]();
        costs[job] = await spentBy(stage.client, steps[job]);
      }
      return costs;
    },
  };
}
