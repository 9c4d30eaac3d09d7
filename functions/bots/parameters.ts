import type { Reference } from '../../shared/fhir/resource.ts';
import { invalidField } from '../../shared/refusal.ts';

/** R4 Parameters, as far as the operations of Bots answer it. */
export interface Parameters {
  resourceType: 'Parameters';
  parameter: Parameter[];
}

export interface Parameter {
  name: string;
  valueString?: string;
  valueCode?: string;
  valueInstant?: string;
  valueInteger?: number;
  valueBoolean?: boolean;
  valueUrl?: string;
  valueReference?: Reference;
  part?: Parameter[];
}

const defaultCount = 20;
const mostCount = 100;

/** @throws {Refusal} invalid */
export function parsePage(query: URLSearchParams): { count: number; cursor: string | undefined } {
  const text = query.get('_count') ?? String(defaultCount);
  if (!/^[1-9]\d{0,8}$/.test(text)) throw invalidField('_count', '_count must be a positive whole number');
  return { count: Math.min(Number(text), mostCount), cursor: query.get('_cursor') ?? undefined };
}

/** Where the following page is, if there is one. */
export function nextParameter(
  baseUrl: string,
  path: string,
  query: URLSearchParams,
  cursor: string | undefined,
): Parameter[] {
  if (cursor === undefined) return [];
  const following = new URLSearchParams(query);
  following.set('_cursor', cursor);
  return [{ name: 'next', valueUrl: `${baseUrl}/fhir/R4/${path}?${following}` }];
}
