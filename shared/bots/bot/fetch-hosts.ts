import { array, maxLength, pipe } from 'valibot';
import { fields, optionalField, parse, readText } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { auditAction, projectOf } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { admit } from '../../identity/gate/actor.ts';
import type { FetchHosts } from '../../identity/projects/settings.ts';
import { parseHost, runSettings } from '../run/bounds.ts';

const mostHosts = 200;

function hostList(name: string) {
  const text = `${name} must be an array of up to ${mostHosts} host names`;
  return optionalField(pipe(array(readText('Not a host name', parseHost), text), maxLength(mostHosts, text)));
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
  const { project } = caller;
  const { actor } = await admit(services, caller, []);
  const { allow, deny } = parse(fetchHostsBody, body);
  const hosts = { ...(allow ? { allow } : {}), ...(deny ? { deny } : {}) };
  const event = { subtype: 'change-fetch-hosts', action: 'U', entities: [projectOf(actor)] } as const;
  await services.table.transact([
    {
      name: 'project',
      update: keys.resource(project, 'Project', project),
      set: 'SET fetchHosts = :hosts',
      if: 'attribute_exists(pk)',
      values: { ':hosts': hosts },
    },
    auditAction(services, actor, event),
  ]);
  return hosts;
}
