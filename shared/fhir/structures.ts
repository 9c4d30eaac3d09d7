import { inflateRawSync } from 'node:zlib';

/** What is kept of an R4 StructureDefinition (`infra/definitions/trim-definitions.ts`). */
export interface StructureDefinition {
  name: string;
  snapshot: { element: StructureElement[] };
}

interface StructureElement {
  path: string;
  min?: number;
  isSummary?: boolean;
  type?: { code: string }[];
}

let known: Promise<ReadonlyMap<string, StructureDefinition>> | undefined;

/** All definitions by name, unpacked when first asked for. */
export function structures(): Promise<ReadonlyMap<string, StructureDefinition>> {
  known ??= unpack();
  return known;
}

async function unpack(): Promise<ReadonlyMap<string, StructureDefinition>> {
  const { definitions } = await import('./definitions.ts');
  const all = JSON.parse(inflateRawSync(Buffer.from(definitions, 'base64')).toString('utf8'));
  return new Map((all as StructureDefinition[]).map((definition) => [definition.name, definition]));
}
