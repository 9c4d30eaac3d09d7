import { errorName } from '../error-name.ts';
import { parseReference, type Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import { patientsOf } from '../index/patient-index.ts';
import type { Services } from '../services.ts';
import { standingState } from '../store/versions.ts';
import { keys } from '../table/keys.ts';

/**
 * The Patients whose records some resources are, by reference; a Binary is of those of what it is part of. Where that
 * cannot be read the log says so, and the others are named.
 * @param of.project undefined where nobody is known, who is shown nothing
 */
export async function patientsAmong(
  services: Pick<Services, 'table' | 'log'>,
  of: { project: string | undefined; traceId: string },
  resources: readonly Resource[],
): Promise<string[]> {
  const { project, traceId } = of;
  const all = new Set(resources.flatMap((one) => [...patientsOf(one)]));
  try {
    const contexts = project === undefined ? [] : await contextsOf(services, project, resources);
    for (const context of contexts) for (const patient of patientsOf(context)) all.add(patient);
  } catch (error) {
    services.log.error('access record lost', { traceId, error: errorName(error) });
  }
  return [...all];
}

/**
 * What the Binaries are part of (R4 Binary.securityContext), as it stands, or as it was when it was deleted. One that
 * names a Patient says by itself whose it is.
 */
async function contextsOf(
  { table }: Pick<Services, 'table'>,
  project: string,
  resources: readonly Resource[],
): Promise<Resource[]> {
  const named = new Set<string>();
  for (const { resourceType, securityContext } of resources) {
    const { reference } = fieldsOf(securityContext);
    if (resourceType === 'Binary' && typeof reference === 'string') named.add(reference);
  }
  const targets = [...named].flatMap((reference) => {
    const target = parseReference(reference);
    return target && target.type !== 'Patient' && target.type !== 'Binary' ? [{ project, ...target }] : [];
  });
  if (targets.length === 0) return [];
  const found = await table.read(targets.map(({ type, id }) => keys.resource(project, type, id)));
  const states = targets.map((target) => {
    const head = found.get(keys.resource(project, target.type, target.id));
    return head && standingState(table, target, head);
  });
  return (await Promise.all(states)).flatMap((state) => (state ? [state.resource] : []));
}
