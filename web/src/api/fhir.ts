import type { Bundle, Parameters, ParametersParameter, Resource } from '@medplum/fhirtypes';
import { nameOf } from '../records/record-text.ts';
import { useApi } from './use-api.ts';

/** What a searchset, or one page of it, holds. */
export function resourcesIn<R extends Resource>({ entry = [] }: Bundle<R>): R[] {
  return entry.flatMap(({ resource }) => resource ?? []);
}

/** The address of the page that follows; undefined for the last. */
export function nextOf({ link = [] }: Bundle): string | undefined {
  return link.find(({ relation }) => relation === 'next')?.url;
}

/** What is asked for; what is left out or empty asks nothing. */
export function queryOf(asked: Readonly<Record<string, string | undefined>>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(asked).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/** `7` of `Patient/7`. */
export function idIn(reference = ''): string {
  return reference.split('/')[1] ?? '';
}

/** A name as it is compared. */
export function normalise(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

/** The parts of an entry of Parameters by name: of each its first value, whatever its type. */
export function partsOf({ part = [] }: Pick<ParametersParameter, 'part'>): Record<string, unknown> {
  const firstValue = (one: object) => Object.entries(one).find(([name]) => name.startsWith('value'))?.[1];
  return Object.fromEntries(part.map((one) => [one.name, firstValue(one)]));
}

/** The entries of that name. */
export function entriesOf({ parameter = [] }: Parameters, name: string): ParametersParameter[] {
  return parameter.filter((one) => one.name === name);
}

/** A resource that was chosen in a picker. */
export interface Picked {
  /** `AccessPolicy/<id>` */
  reference: string;
  display: string;
  /** What tells it from another of the same name. */
  detail?: string;
}

/** A choice that brings the resource along. */
export type PickedResource<R extends Resource> = Picked & { resource: R };

type ResourceOf<Type> = Extract<Resource, { resourceType: Type }>;

/** Finds resources of a type by the beginning of their name, for a ResourcePicker. */
export function useFindByName<Type extends 'AccessPolicy' | 'Patient'>(type: Type) {
  const { get } = useApi();
  return async (text: string, signal?: AbortSignal): Promise<PickedResource<ResourceOf<Type>>[]> => {
    const query = queryOf({ _count: '20', _sort: 'name', name: text });
    const bundle = await get<Bundle<ResourceOf<Type>>>(`fhir/R4/${type}?${query}`, signal);
    return resourcesIn(bundle).map(pickedResource);
  };
}

export function pickedResource<R extends Resource>(resource: R): PickedResource<R> {
  const detail = detailOf(resource);
  return {
    reference: `${resource.resourceType}/${resource.id}`,
    display: nameOf(resource),
    resource,
    ...(detail ? { detail } : {}),
  };
}

function detailOf(resource: Resource): string {
  if (resource.resourceType === 'AccessPolicy') {
    const types = (resource.resource ?? []).map(({ resourceType }) => resourceType);
    return [...new Set(types)].map((type) => (type === '*' ? 'every type' : type)).join(', ');
  }
  if (resource.resourceType !== 'Patient') return '';
  const identifiers = (resource.identifier ?? []).flatMap(({ value }) => value ?? []);
  return [resource.birthDate && `born ${resource.birthDate}`, ...identifiers].filter(Boolean).join(', ');
}
