import { isId, type Resource } from '../fhir/resource.ts';
import { credentialOf } from '../keys/credential.ts';
import { inlineResource } from '../store/inline.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** A ClientApplication and its Project, by its id alone, as requests of no Project name it. */
export async function findClientApplication(
  table: Table,
  clientId: string,
): Promise<{ project: string; client: Resource } | undefined> {
  if (!isId(clientId)) return undefined;
  const credentialKey = keys.client(clientId);
  const project = credentialOf((await table.read([credentialKey])).get(credentialKey))?.project;
  if (project === undefined) return undefined;
  const key = keys.resource(project, 'ClientApplication', clientId);
  const client = inlineResource('ClientApplication', (await table.read([key])).get(key));
  return client && { project, client };
}
