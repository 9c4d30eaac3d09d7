import type {
  AccessPolicy,
  Bot,
  Bundle,
  Parameters,
  ParametersParameter,
  Patient,
  Resource,
} from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { nameOf } from '../records/record-text.ts';
import type { Picked } from '../ui/resource-picker.tsx';
import { useApi } from './use-api.ts';

interface Findable {
  AccessPolicy: AccessPolicy;
  Patient: Patient;
  Bot: Bot;
}

/** A choice that brings the resource along. */
export type PickedResource<R extends Resource> = Picked & { resource: R };

/** Finds resources of a type by the beginning of their name, for a ResourcePicker. */
export function useFindByName<Type extends keyof Findable>(type: Type) {
  const api = useApi();
  return useCallback(
    async (text: string, signal?: AbortSignal): Promise<PickedResource<Findable[Type]>[]> => {
      const query = new URLSearchParams({ _count: '20', _sort: 'name', ...(text ? { name: text } : {}) });
      const bundle = await api.get<Bundle<Findable[Type]>>(`fhir/R4/${type}?${query}`, signal);
      return (bundle.entry ?? []).flatMap(({ resource }) => (resource ? pickedResource(resource) : []));
    },
    [api, type],
  );
}

export function pickedResource<R extends Resource>(resource: R): PickedResource<R> {
  const { resourceType, id } = resource;
  const detail = detailOf(resource);
  return {
    reference: `${resourceType}/${id}`,
    display: nameOf(resource),
    resource,
    ...(detail ? { detail } : {}),
  };
}

/** What tells apart two of the same name. */
function detailOf(resource: Resource): string {
  if (resource.resourceType === 'AccessPolicy') {
    const types = (resource.resource ?? []).map(({ resourceType }) => resourceType);
    return [...new Set(types)].map((type) => (type === '*' ? 'every type' : type)).join(', ');
  }
  if (resource.resourceType !== 'Patient') return '';
  const identifiers = (resource.identifier ?? []).flatMap(({ value }) => value ?? []);
  return [resource.birthDate && `born ${resource.birthDate}`, ...identifiers].filter(Boolean).join(', ');
}

/** The parts of an entry of Parameters by name: of each its first value, whatever its type. */
export function partsOf({ part = [] }: ParametersParameter): Record<string, unknown> {
  return Object.fromEntries(part.map((one) => [one.name, firstValueOf(one)]));
}

/** The entries of that name. */
export function entriesOf({ parameter = [] }: Parameters, name: string): ParametersParameter[] {
  return parameter.filter((one) => one.name === name);
}

function firstValueOf(one: ParametersParameter): unknown {
  return Object.entries(one).find(([name]) => name.startsWith('value'))?.[1];
}
