import type { Resource } from '../fhir/resource.ts';
import type { Key } from '../table/keys.ts';
import { indexPartition } from './partition.ts';
import { compartmentIndex, compartmentPlace } from './patient-index.ts';
import { placesOf, sortKeyOf } from './places.ts';
import { type Parameter, parametersOf } from './registry.ts';
import { bucketOf, type Place } from './span.ts';
import { retiredTextPlaces } from './text.ts';
import { valuesOf } from './value.ts';

/**
 * The keys of index items that earlier releases wrote for a resource and this one does without. No search
 * reads them; some hold words of names.
 */
export function retiredKeys(project: string, resource: Resource): Key[] {
  const { resourceType: type, id } = resource;
  if (type === 'AuditEvent') return [];
  const keyOf = (index: string, place: Place): Key => ({
    ...indexPartition(project, type, index, place.bucket),
    sk: sortKeyOf(place, id),
  });
  const ofParameters = [...parametersOf(type).values()].flatMap((parameter) =>
    retiredPlaces(type, parameter, resource).map((place) => keyOf(earlierIndex(parameter), place)),
  );
  if (type !== 'Patient') return ofParameters;
  return [...ofParameters, keyOf(compartmentIndex, compartmentPlace(`Patient/${id}`, resource))];
}

function retiredPlaces(type: string, parameter: Parameter, resource: Resource): Place[] {
  const { code, within } = parameter;
  const texts = parameter.type === 'string' ? retiredTextPlaces(valuesOf(resource, parameter)) : [];
  if (within || (type === 'ProjectMembership' && code === 'project'))
    return [...earlierPlaces(parameter, resource), ...texts];
  if (parameter.type === 'string') return texts;
  if (code === 'deceased' && type === 'Patient') return [{ bucket: bucketOf('false') }];
  return parameter.index !== undefined && hasTellingKeys(parameter) ? earlierPlaces(parameter, resource) : [];
}

/** Items of tokens and references did not tell of system, case and type. */
function earlierPlaces(parameter: Parameter, resource: Resource): Place[] {
  const places = placesOf(parameter, resource);
  return hasTellingKeys(parameter) ? places.map(({ bucket }) => ({ bucket })) : places;
}

/** What now lies within another parameter had an index of its own. */
function earlierIndex({ code, index = code, within }: Parameter): string {
  return within ? code : index;
}

function hasTellingKeys({ type }: Parameter): boolean {
  return type === 'token' || type === 'reference';
}
