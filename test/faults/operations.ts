import { countedServices } from '../../bench/counted/services.ts';
import type { Resource } from '../../shared/base/resource.ts';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { deployBot } from '../../shared/bots/bot/deploy-bot.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { changeMember, removeMember } from '../../shared/identity/memberships/change-member.ts';
import { readEntry, runBundle } from '../../shared/records/bundle/run-bundle.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import type { Write } from '../../shared/records/write/write.ts';
import { person, type Stage } from '../storage/stage.ts';

/** Makes ready, undisturbed; answers what is disturbed, which a client may repeat. */
export type Operation = (stage: Stage, caller: Caller<'administrator'>) => Promise<() => Promise<unknown>>;

const patient = { resourceType: 'Patient', birthDate: '1970-01-01' };
/** More index items than a transaction holds. */
const large = {
  resourceType: 'CodeSystem',
  ...{ status: 'active', content: 'complete', url: 'https://example.org/large' },
  concept: Array.from({ length: 120 }, (_, n) => ({ code: `code-${n}` })),
};

async function write({ services }: Stage, caller: Caller, one: Write): Promise<Resource> {
  const [outcome] = await carryOut(services, caller, [one]);
  return outcome?.resource as Resource;
}

export const operations: Readonly<Record<string, Operation>> = {
  'invite somebody new': async ({ services }, caller) => {
    const body = person();
    return () => inviteUser(services, caller, body);
  },
  'invite again, as another type': async ({ services }, caller) => {
    const body = person();
    await inviteUser(services, caller, body);
    return () => inviteUser(services, caller, { ...body, resourceType: 'Patient', upsert: true });
  },
  'change a member': async ({ services }, caller) => {
    const { id } = await inviteUser(services, caller, person());
    return () => changeMember(services, caller, { membershipId: id, body: { admin: true } });
  },
  'remove a member': async ({ services }, caller) => {
    const { id } = await inviteUser(services, caller, person());
    return () => removeMember(services, caller, { membershipId: id });
  },
  'create under a condition': async (stage, caller) => {
    const body = { ...patient, identifier: [{ system: 'urn:test', value: 'one' }] };
    return () =>
      write(stage, caller, { kind: 'create', type: 'Patient', query: 'identifier=urn:test|one', body });
  },
  'create something large under a condition': async (stage, caller) => () =>
    write(stage, caller, {
      ...{ kind: 'create', type: 'CodeSystem', body: large },
      query: 'url=https://example.org/large',
    }),
  update: async (stage, caller) => {
    const { id } = await write(stage, caller, { kind: 'create', type: 'Patient', body: patient });
    const body = { ...patient, id, gender: 'female' };
    return () => write(stage, caller, { kind: 'update', type: 'Patient', id, body });
  },
  delete: async (stage, caller) => {
    const { id } = await write(stage, caller, { kind: 'create', type: 'Patient', body: patient });
    return () => carryOut(stage.services, caller, [{ kind: 'delete', type: 'Patient', id }]);
  },
  'run a transaction': async (stage, caller) => {
    const services = { ...stage.services, carryOut, readEntry };
    const entry = (type: string, more: object) => ({
      resource: { resourceType: type, ...more },
      request: { method: 'PUT', url: `${type}?identifier=urn:test|${type}` },
    });
    const identified = (type: string) => ({ identifier: [{ system: 'urn:test', value: type }] });
    const body = {
      ...{ resourceType: 'Bundle', type: 'transaction' },
      entry: [
        entry('Patient', identified('Patient')),
        entry('Organization', { ...identified('Organization'), name: 'Ward' }),
      ],
    };
    return () => runBundle(services, caller, body);
  },
  'deploy a Bot': async (stage, caller) => {
    const services = countedServices(stage);
    const { id: botId } = await createBot(services, caller, { name: 'Bot' });
    return () =>
      deployBot(services, caller, { botId, body: { code: 'exports.handler = () => 1' }, traceId: 't' });
  },
};
