import { fieldsOf } from '../fields-of.ts';
import { typedKeys } from '../typed-keys.ts';

/** The extensions of a Subscription that existing ones carry, by what they say. */
const names = {
  interaction: 'subscription-supported-interaction',
  expression: 'fhir-path-criteria-expression',
  successCodes: 'subscription-success-codes',
  maxAttempts: 'subscription-max-attempts',
  secret: 'subscription-secret',
} as const;

export type ExtensionName = keyof typeof names;

/** An extension as it stands in a resource; nothing of it is checked yet. */
export interface Extension {
  url?: unknown;
  valueCode?: unknown;
  valueString?: unknown;
  valueInteger?: unknown;
}

/** Both spellings of the host are in use. */
const prefix = /^https:\/\/(?:www\.)?medplum\.com\/fhir\/StructureDefinition\//;

/** Which of ours it is; undefined for any other. */
export function extensionName({ url }: Extension): ExtensionName | undefined {
  if (typeof url !== 'string' || !prefix.test(url)) return undefined;
  const own = url.replace(prefix, '');
  return typedKeys(names).find((name) => names[name] === own);
}

/** All of a resource's extensions of one name, each with its place. */
export function extensionsOf(
  resource: object,
  name: ExtensionName,
): { extension: Extension; expression: string }[] {
  const { extension: all } = fieldsOf(resource);
  if (!Array.isArray(all)) return [];
  return all.flatMap((extension: Extension, i) =>
    extensionName(extension ?? {}) === name ? [{ extension, expression: `extension[${i}]` }] : [],
  );
}
