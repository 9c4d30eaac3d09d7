import { array, maxLength, pipe } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, projectOf } from '../../shared/audit/who.ts';
import { parseHost, runSettings } from '../../shared/bot/project-settings.ts';
import type { FetchHosts } from '../../shared/project-settings.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { readText } from '../../shared/schema/values.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';

const mostHosts = 200;

function hostList(name: string) {
  const text = `${name} must be an array of up to ${mostHosts} host names`;
  return optional(pipe(array(readText('Not a host name', parseHost), text), maxLength(mostHosts, text)));
}

export const fetchHostsBody = fields(
  { allow: hostList('allow'), deny: hostList('deny') },
  'The body must be a JSON object with allow and deny',
);

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
  const { allow, deny } = parse(fetchHostsBody, body);
  const hosts = { ...(allow ? { allow } : {}), ...(deny ? { deny } : {}) };
  const audited: Audited = {
    project,
    subtype: 'change-fetch-hosts',
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
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
