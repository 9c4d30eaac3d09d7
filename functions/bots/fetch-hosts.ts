import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { agentOf, projectOf } from '../../shared/audit/who.ts';
import { type FetchHosts, parseHost, runSettings } from '../../shared/bot/project-settings.ts';
import { Refusal, type RefusalIssue } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';

const mostHosts = 200;

/** Where the Bots of the Project may fetch from. */
export async function readFetchHosts(
  services: Services,
  caller: Caller<'administrator'>,
): Promise<FetchHosts> {
  const key = keys.resource(caller.project, 'Project', caller.project);
  const { found } = await admit(services, caller, [key]);
  return runSettings(found.get(key)).fetchHosts;
}

/**
 * Says where the Bots of the Project may fetch from, from their next run on.
 * @param body `{allow?: host[], deny?: host[]}`; a host is a name, or `*.` and a name for all below it
 * @throws {Refusal} invalid
 */
export async function changeFetchHosts(
  services: Services,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<FetchHosts> {
  const { table, newId, now } = services;
  const { project } = caller;
  const { actor } = await admit(services, caller, []);
  const hosts = parseFetchHosts(body);
  const audited: Audited = {
    project,
    subtype: 'change-fetch-hosts',
    action: 'U',
    outcome: '0',
    agent: agentOf(actor),
    entities: [projectOf(actor)],
  };
  await table.transact([
    {
      name: 'project',
      update: keys.resource(project, 'Project', project),
      set: 'SET fetchHosts = :hosts',
      if: 'attribute_exists(pk)',
      values: { ':hosts': hosts },
    },
    { name: 'audit', put: auditItem(audited, newId(), now()) },
  ]);
  return hosts;
}

function parseFetchHosts(body: unknown): FetchHosts {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal('invalid', 'The body must be a JSON object with allow and deny');
  }
  const issues: RefusalIssue[] = [];
  const lists = (['allow', 'deny'] as const).flatMap((name) => {
    const list = (body as Record<string, unknown>)[name];
    if (list == null) return [];
    if (!Array.isArray(list) || list.length > mostHosts) {
      issues.push({ expression: name, text: `${name} must be an array of up to ${mostHosts} host names` });
      return [];
    }
    const hosts = list.map((one: unknown, i) => {
      const host = parseHost(one);
      if (host === undefined) issues.push({ expression: `${name}[${i}]`, text: 'Not a host name' });
      return host ?? '';
    });
    return [[name, hosts] as const];
  });
  if (issues.length > 0) throw new Refusal('invalid', 'The hosts are not valid', { issues });
  return Object.fromEntries(lists);
}
