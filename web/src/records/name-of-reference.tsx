import type { Resource } from '@medplum/fhirtypes';
import { useEffect, useState } from 'react';
import { type Api, useApi } from '../api/use-api.ts';
import { profileType } from '../members/profile-type.ts';
import { nameOf } from './name-of.ts';

/** Asked for once in a session, since a list names the same few again and again. */
const known = new WeakMap<Api, Map<string, Promise<string>>>();

/** A resource's name in place of its reference; its type while it is not known, or not to be read. */
export function NameOf({ reference }: { reference: string | undefined }) {
  const api = useApi();
  const type = profileType(reference);
  const [name, setName] = useState(type);
  useEffect(() => {
    if (reference === undefined) return;
    let isGone = false;
    void nameFor(api, reference, type).then((found) => isGone || setName(found));
    return () => {
      isGone = true;
    };
  }, [api, reference, type]);
  return <span title={reference}>{name}</span>;
}

function nameFor(api: Api, reference: string, type: string): Promise<string> {
  const names = known.get(api) ?? new Map<string, Promise<string>>();
  known.set(api, names);
  const asked = names.get(reference) ?? ask(api, reference, type);
  names.set(reference, asked);
  return asked;
}

async function ask(api: Api, reference: string, type: string): Promise<string> {
  // Users are above Projects, and a membership has no name of its own.
  if (!/^(Patient|Practitioner|RelatedPerson|Bot|ClientApplication|AccessPolicy)\/[\w.-]+$/.test(reference))
    return type;
  return api.get<Resource>(`fhir/R4/${reference}`).then(nameOf, () => type);
}
