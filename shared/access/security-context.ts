import { parseReference, type Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import { type Owner, openState } from '../store/content.ts';
import { isStanding } from '../store/inline.ts';
import { keys } from '../table/keys.ts';

/** The resource that a Binary's `securityContext` names; undefined when none of this Project stands there. */
export type ContextReader = (binary: Resource) => Promise<Resource | undefined>;

/**
 * R4 Binary.securityContext: that very resource decides who may have the bytes. Each is read once a
 * request. A Binary is no context for another: a chain of them would have no end.
 */
export function contextReader({ table, project }: Owner): ContextReader {
  const known = new Map<string, Promise<Resource | undefined>>();
  const read = async (type: string, id: string) => {
    const key = keys.resource(project, type, id);
    const head = (await table.read([key])).get(key);
    return isStanding(head) ? (await openState({ table, project }, head))?.resource : undefined;
  };
  return async ({ securityContext }) => {
    const { reference } = fieldsOf(securityContext);
    const target = parseReference(reference);
    if (!target || target.type === 'Binary') return undefined;
    const name = `${target.type}/${target.id}`;
    const reading = known.get(name) ?? read(target.type, target.id);
    known.set(name, reading);
    return reading;
  };
}
