import { useEffect, useState } from 'react';
import type { SearchParameter } from '../../../shared/store/index/registry.ts';
import type { Session } from '../session/session.ts';
import { useSession } from '../session/session-context.tsx';

/** Which types there are, and by what each is searched, as the service knows it. */
export interface Registry {
  types: readonly string[];
  /** In the order of their names. */
  parametersOf(type: string): readonly Pick<SearchParameter, 'code' | 'type'>[];
}

let known: Registry | undefined;

/** Loaded when the first page asks for it; undefined until then. */
export function useRegistry(): Registry | undefined {
  const [registry, setRegistry] = useState(known);
  useEffect(() => {
    if (known) return;
    import('../../../shared/store/index/registry.ts').then(
      ({ parametersOf, resourceTypes }) => {
        known = {
          types: resourceTypes(),
          parametersOf: (type) => [...parametersOf(type).values()].sort((a, b) => (a.code < b.code ? -1 : 1)),
        };
        setRegistry(known);
      },
      // Then records are listed without being searched.
      () => undefined,
    );
  }, []);
  return registry;
}

/** The types that a clinic looks at most; the API serves every R4 type. */
const usual = [
  'Patient',
  'Practitioner',
  'RelatedPerson',
  'Observation',
  'Condition',
  'Encounter',
  'DiagnosticReport',
  'ServiceRequest',
  'MedicationRequest',
  'AllergyIntolerance',
  'Immunization',
  'Procedure',
  'Appointment',
  'Communication',
  'DocumentReference',
  'Organization',
  'Questionnaire',
  'QuestionnaireResponse',
  'Task',
];

export const recordTypes = usual.map(asOption);

/** The usual ones first, then all others by name. */
export function typeOptions(all: readonly string[]) {
  return [...recordTypes, ...all.filter((type) => !usual.includes(type)).map(asOption)];
}

function asOption(type: string) {
  return { value: type, label: type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ') };
}

/** One condition of a search: a parameter, with its modifier if it has one, and what is looked for. */
export interface Condition {
  code: string;
  value: string;
}

/** What was looked for, by type: in memory and of this session only, since names must not stand in addresses. */
const keptBy = new WeakMap<Session, Map<string, readonly Condition[]>>();

/** The conditions on records of a type, there again after a look at one of them. */
export function useConditions(type: string): [readonly Condition[], (next: readonly Condition[]) => void] {
  const session = useSession();
  const kept = keptBy.get(session) ?? new Map<string, readonly Condition[]>();
  keptBy.set(session, kept);
  const [conditions, setConditions] = useState(kept.get(type) ?? []);
  const change = (next: readonly Condition[]) => {
    kept.set(type, next);
    setConditions(next);
  };
  return [conditions, change];
}

const examples: Readonly<Record<string, string>> = {
  token: 'A code, or system|code.',
  string: 'The beginning of a word.',
  reference: 'As Patient/1f0c or an id alone.',
  date: 'As 2026-01-31; with ge, gt, le or lt before it for from, after, until, before.',
  number: 'As 5; with gt or lt before it for more or less.',
  quantity: 'As 5.4, gt5.4 or 5.4|http://unitsofmeasure.org|mg.',
  uri: 'The whole of it.',
  composite: 'Both parts with $ between them, as 8480-6$gt150.',
};

/** How a value of a parameter of that type is written. */
export function exampleOf(type: string | undefined): string {
  return examples[type ?? ''] ?? '';
}
