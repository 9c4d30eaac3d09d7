import { countedServices } from '../../bench/counted/services.ts';
import { changeSecrets } from '../../shared/bots/bot/change-secrets.ts';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { changeClient, rotateSecret } from '../../shared/identity/memberships/change-client.ts';
import { createClient } from '../../shared/identity/memberships/clients.ts';
import { changeProject } from '../../shared/identity/projects/project.ts';
import { setMemberPassword } from '../../shared/identity/sign-in/passwords.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { person } from '../storage/stage.ts';
import type { Operation } from './operations.ts';

/** Those of the long form: what administrators and people change besides. */
export const moreOperations: Readonly<Record<string, Operation>> = {
  'change a Project': async ({ services }, caller) => {
    return () => changeProject(services, caller, { senderName: 'The ward', idleMinutes: 30 });
  },
  'change a client': async ({ services }, caller) => {
    const { id = '' } = await createClient(services, caller, { name: 'Feed' });
    const body = { expires: '2031-01-31T12:00:00Z' };
    return () => changeClient(services, caller, { clientId: id, body });
  },
  "rotate a client's secret": async ({ services }, caller) => {
    const { id = '' } = await createClient(services, caller, { name: 'Feed' });
    return () => rotateSecret(services, caller, { clientId: id, receivedAtMs: services.now() });
  },
  "set a member's password": async ({ services }, caller) => {
    const body = person({ scope: 'project' });
    await inviteUser(services, caller, body);
    const wanted = { email: body.email, password: 'A phrase of many words 7' };
    return () => setMemberPassword(services, caller, wanted);
  },
  'change the secrets of a Bot': async (stage, caller) => {
    const services = countedServices(stage);
    const { id: botId = '' } = await createBot(services, caller, { name: 'Bot' });
    return () => changeSecrets(services, caller, { botId, body: [{ name: 'KEY', valueString: 'x' }] });
  },
  patch: async ({ services }, caller) => {
    const body = { resourceType: 'Patient', birthDate: '1970-01-01' };
    const [made] = await carryOut(services, caller, [{ kind: 'create', type: 'Patient', body }]);
    const operations = [{ op: 'replace', path: '/birthDate', value: '1971-01-01' }] as const;
    const id = String(made?.id);
    return () => carryOut(services, caller, [{ kind: 'patch', type: 'Patient', id, operations }]);
  },
};
