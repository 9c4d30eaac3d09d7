import type { Parameters, Resource } from '@medplum/fhirtypes';
import { entriesOf } from '../api/parameters.ts';
import type { Api } from '../api/use-api.ts';

/** A record as the member sees it. */
export interface SeenRecord {
  resource: Resource;
  /** Elements that are hidden from them. */
  hidden: string[];
  /** The rules that let them see it, a sentence each. */
  rules: string[];
}

export interface Explanation {
  seen: SeenRecord[];
  why: string | undefined;
  /** The search of the next page. */
  next: string | undefined;
}

/** `POST fhir/R4/ProjectMembership/<id>/$explain`. @throws what the service refused */
export async function explain(
  api: Api,
  membershipId: string,
  wanted: { search: string } | { resource: string },
): Promise<Explanation> {
  const path = `fhir/R4/ProjectMembership/${encodeURIComponent(membershipId)}/$explain`;
  const answer = await api.send<Parameters>('POST', path, wanted);
  const textOf = (name: string) => entriesOf(answer, name)[0]?.valueString;
  const seen = entriesOf(answer, 'seen').flatMap(({ part = [] }) => {
    const texts = (name: string) =>
      part.flatMap((one) => (one.name === name && one.valueString ? [one.valueString] : []));
    const resource = part.find(({ name }) => name === 'resource')?.resource;
    return resource ? [{ resource, hidden: texts('hidden'), rules: texts('rule') }] : [];
  });
  return { seen, why: textOf('why'), next: textOf('next') };
}
