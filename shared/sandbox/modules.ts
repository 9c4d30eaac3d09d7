/** What a Bot may import beside `@medplum/core`, `@medplum/fhirtypes` and `hl7-standard`. */

/** Of Node, also as `node:` and the name. */
export const nodeModules = ['buffer', 'crypto', 'events', 'querystring', 'url', 'util'] as const;

/** Packages whose `fetch` is ours. */
export const fetchPackages = ['node-fetch', 'undici'] as const;

/** Of ours, which no Bot can import: what modules and globals share. */
const ownParts = ['portico:form-data', 'portico:keys'] as const;

type PlainName = (typeof nodeModules)[number] | (typeof fetchPackages)[number];
export type ModuleName = PlainName | (typeof ownParts)[number];

export const moduleNames: readonly ModuleName[] = [...nodeModules, ...fetchPackages, ...ownParts];

/** Of the folder that infra/guest/build.ts makes. */
export function moduleFile(name: ModuleName): string {
  return `module-${name.replace('portico:', '')}.js`;
}

/** Node's modules have two names. */
export function plainName(specifier: string): string {
  const name = specifier.replace(/^node:/, '');
  return nodeModules.some((known) => known === name) ? name : specifier;
}
