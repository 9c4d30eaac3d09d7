import { isKeyOf } from '../../base/values.ts';
import { searchParameters, usCoreParameters } from './search-parameters.ts';

/** The types of search parameters and their modifiers; beside them `:missing` for all, `:Type` for references (R4 search). */
export const modifiers = {
  token: ['not', 'text'],
  string: ['exact', 'contains'],
  reference: ['identifier'],
  uri: ['below', 'above'],
  date: [],
  number: [],
  quantity: [],
  composite: [],
} as const;

export type Modifier = (typeof modifiers)[SearchParameter['type']][number];

/** A search parameter of one resource type. */
export interface SearchParameter {
  code: string;
  type: keyof typeof modifiers;
  /** Under which name its values are indexed; undefined when they are not. */
  index: string | undefined;
  /** All its values are among those of another parameter, whose items lead to them: it has none of its own. */
  within?: true;
  paths: readonly ParameterPath[];
  /** Of a date, number or quantity: whether a resource may have several values of it. */
  repeats?: true;
  /** The one type that a reference is to, where R4 allows but one. */
  target?: string;
  /** Of a composite: what must hold together, and inside of which elements. */
  composite?: { elements: readonly string[]; parts: readonly string[] };
}

/** Where in a resource values are found, and of which data type they are. */
export interface ParameterPath {
  steps: readonly ParameterStep[];
  type: string;
  /** For references: only those to this type. */
  target: string | undefined;
}

export interface ParameterStep {
  element: string;
  at?: number;
  where?: { name: string; value: string };
}

/** Parameters of every type (R4 Resource). */
const common = `_id token - id:id
_lastUpdated date _lastUpdated meta.lastUpdated:instant
_profile uri _profile meta.profile:canonical
_security token _security meta.security:Coding
_source uri _source meta.source:uri
_tag token _tag meta.tag:Coding`;

/** Search parameters beyond R4's that a stage may serve: those of US Core's own. */
const sets: Readonly<Record<string, Readonly<Record<string, string>>>> = { 'us-core': usCoreParameters };

let served: readonly string[] = [];

const parsed = new Map<string, ReadonlyMap<string, SearchParameter>>();

/**
 * Serves these sets beside R4's parameters. All functions of a stage serve the same, from before their first read:
 * what one of them does not know it does not index.
 * @param names between commas
 * @throws {Error} for one that there is not
 */
export function serveParameterSets(names: string): void {
  const wanted = names.split(',').filter(Boolean);
  const unknown = wanted.find((name) => !isParameterSet(name));
  if (unknown !== undefined) throw new Error(`There is no set of search parameters ${unknown}`);
  served = wanted;
  parsed.clear();
}

export function isParameterSet(name: unknown): name is string {
  return typeof name === 'string' && Object.hasOwn(sets, name);
}

/** The names of the sets that are served, between commas. */
export function servedParameterSets(): string {
  return [...served].sort().join();
}

/** The search parameters of a resource type by code; only the types that are asked for are parsed. */
export function parametersOf(type: string): ReadonlyMap<string, SearchParameter> {
  const known = parsed.get(type);
  if (known) return known;
  const texts = [common, searchParameters[type], ...served.map((name) => sets[name]?.[type])];
  const lines = texts.flatMap((text) => text?.split('\n') ?? []).filter(Boolean);
  const searchable = lines.filter((line) => !line.includes(leftOut));
  const parameters = new Map(searchable.map(parseLine).map((parameter) => [parameter.code, parameter]));
  parsed.set(type, parameters);
  return parameters;
}

/** Every type has it, and everything can be put in order by it. */
export function lastUpdatedOf(type: string): SearchParameter {
  const parameter = parametersOf(type).get('_lastUpdated');
  if (!parameter) throw new Error(`${type} has no _lastUpdated`);
  return parameter;
}

/** What stands in the line of a parameter of R4 that is not served: distances, and two of sequences. */
const leftOut = ' left out';

export function isLeftOut(type: string, code: string): boolean {
  return (searchParameters[type] ?? '').split('\n').includes(`${code}${leftOut}`);
}

/** Whether `fhir/R4/<type>` exists. */
export function isResourceType(type: string): boolean {
  return Object.hasOwn(searchParameters, type);
}

export function resourceTypes(): string[] {
  return Object.keys(searchParameters);
}

function parseLine(line: string): SearchParameter {
  const [code = '', typeText = '', index, paths = '', target] = line.split(' ');
  const type = typeText.replace('*', '');
  if (!isKeyOf(modifiers, type)) throw new Error(`There is no search parameter of the type ${type}`);
  if (type === 'composite') {
    const composite = { elements: paths.split('|'), parts: target?.split('$') ?? [] };
    return { code, type, index: undefined, paths: [], composite };
  }
  return {
    code,
    type,
    ...(typeText.endsWith('*') ? { repeats: true } : {}),
    index: index === '-' ? undefined : index?.replace('<', ''),
    ...(index?.startsWith('<') ? { within: true } : {}),
    paths: paths.split('|').map(parsePath),
    ...(target === undefined ? {} : { target }),
  };
}

function parsePath(text: string): ParameterPath {
  const at = text.lastIndexOf(':');
  const [, type = '', target] = /^([^(]+)(?:\((.+)\))?$/.exec(text.slice(at + 1)) ?? [];
  return { steps: at < 0 ? [] : splitSteps(text.slice(0, at)).map(parseStep), type, target };
}

/** At dots, but not at those of a URL in brackets. */
function splitSteps(text: string): string[] {
  return text.split(/\.(?![^[]*\])/);
}

function parseStep(text: string): ParameterStep {
  const [, element = '', at, name, value] = /^([A-Za-z]+)(?:\[(\d+)\]|\[([a-z]+)=(.+)\])?$/.exec(text) ?? [];
  return {
    element,
    ...(at === undefined ? {} : { at: Number(at) }),
    ...(name === undefined ? {} : { where: { name, value: value ?? '' } }),
  };
}
