/** `/openapi.json`, as far as it is shown. */
export interface ApiDocument {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; in: string; description?: string }[];
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, { description?: string }>;
}

/** One operation with where it is. */
export interface Described extends Operation {
  method: string;
  path: string;
}

/** The operations by what they are about, in the order of the document. */
export function sectionsOf({ tags, paths }: ApiDocument) {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
  return tags.map((tag) => ({ ...tag, operations: all.filter(({ tags: [first] }) => first === tag.name) }));
}
