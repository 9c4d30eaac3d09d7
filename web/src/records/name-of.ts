import type { HumanName, Resource } from '@medplum/fhirtypes';

/** What people call a resource: its name or title, else its type and id. */
export function nameOf(resource: Resource): string {
  const { name, title, code } = resource as {
    name?: string | HumanName[];
    title?: string;
    code?: { text?: string; coding?: { display?: string; code?: string }[] };
  };
  if (typeof name === 'string' && name) return name;
  const [human] = Array.isArray(name) ? name : [];
  const person = human?.text ?? [...(human?.given ?? []), human?.family].filter(Boolean).join(' ');
  const coded = code?.text ?? code?.coding?.[0]?.display ?? code?.coding?.[0]?.code;
  return person || title || coded || `${resource.resourceType}/${resource.id}`;
}
