import { setTimeout as pause } from 'node:timers/promises';
import type { Bundle, OperationOutcome, Resource } from '@medplum/fhirtypes';
import type { Portico } from '../../client/src/create-portico.ts';
import { OperationOutcomeError } from '../../client/src/operation-outcome-error.ts';
import { OAuthError } from '../../client/src/tokens.ts';
import { errorName } from '../../shared/base/values.ts';

/** An entry of the answer to a batch. */
export interface ImportAnswer {
  status: number;
  resource: Resource | undefined;
  /** Why it was refused, and the code of that (http://hl7.org/fhir/issue-type). */
  text: string;
  code: string;
}

const mostAttempts = 8;
const longestPauseMs = 30_000;

/**
 * One batch, sent again while the service is away, throttled or faulty: everything in it may be repeated.
 * @param entries JSON texts
 * @param more headers beside the usual ones
 * @returns an answer for each; undefined when the batch as a whole is more than one request may be
 * @throws {OperationOutcomeError} refused as a whole
 * @throws {Error} the service stayed away
 */
export async function sendBatch(
  portico: Portico,
  entries: readonly string[],
  more: Record<string, string> = {},
): Promise<ImportAnswer[] | undefined> {
  const body = `{"resourceType":"Bundle","type":"batch","entry":[${entries.join(',')}]}`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const headers = { prefer: 'return=minimal', ...more };
      const request = { method: 'POST', body, contentType: 'application/fhir+json', headers };
      const response = await portico.fetch('fhir/R4', request);
      return answersOf(await response.json());
    } catch (error) {
      if (isTooMuch(error)) return undefined;
      if (attempt === mostAttempts || !mayPass(error)) throw error;
      const asked = error instanceof OperationOutcomeError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
      const backOff = Math.min(longestPauseMs, 250 * 2 ** attempt) * (0.5 + Math.random() / 2);
      await pause(Math.max(asked, backOff));
    }
  }
}

function answersOf(bundle: unknown): ImportAnswer[] {
  const { entry = [] } = { ...(bundle as Bundle | null) };
  return entry.map(({ resource, response }) => {
    const [issue] = (response?.outcome as OperationOutcome | undefined)?.issue ?? [];
    return {
      status: Number.parseInt(response?.status ?? '', 10),
      resource,
      text: issue?.details?.text ?? issue?.code ?? '',
      code: issue?.code ?? '',
    };
  });
}

/** Larger, or costlier, than a request may be. */
function isTooMuch(error: unknown): boolean {
  if (!(error instanceof OperationOutcomeError)) return false;
  return error.status === 413 || error.outcome.issue.some(({ code }) => code === 'too-costly');
}

/** Lost connections, and what a service says while something is wrong with it; 401 when a token has ended. */
function mayPass(error: unknown): boolean {
  if (error instanceof OperationOutcomeError && error.status === 401) return true;
  if (error instanceof OperationOutcomeError || error instanceof OAuthError) {
    return [408, 429].includes(error.status) || error.status >= 500;
  }
  return errorName(error) === 'TypeError';
}

const mostSearches = 50;

/** Of references as `Type/id`, those that the service has. */
export async function presentOf(portico: Portico, references: readonly string[]): Promise<Set<string>> {
  const byType = Map.groupBy(references, (reference) => reference.slice(0, reference.indexOf('/')));
  const searches = [...byType].map(([type, all]) => {
    const ids = all.map((reference) => reference.slice(type.length + 1));
    return `${type}?_id=${ids.join(',')}&_elements=id&_count=${ids.length}`;
  });
  const answers = await search(portico, searches);
  return new Set(answers.flatMap(({ type, ids }) => ids.map((id) => `${type}/${id}`)));
}

/** For each condition, as `Type?query`, the one resource of the service that meets it. */
export async function matchesOf(
  portico: Portico,
  conditions: readonly string[],
): Promise<Map<string, string>> {
  const answers = await search(
    portico,
    conditions.map((condition) => `${condition}&_elements=id&_count=2`),
  );
  return new Map(
    answers.flatMap(({ type, ids: [id, second] }, at) =>
      id !== undefined && second === undefined ? [[conditions[at] ?? '', `${type}/${id}`]] : [],
    ),
  );
}

/** A search that is refused, for want of rights too, finds nothing. */
async function search(
  portico: Portico,
  searches: readonly string[],
): Promise<{ type: string; ids: string[] }[]> {
  const found: { type: string; ids: string[] }[] = [];
  for (let from = 0; from < searches.length; from += mostSearches) {
    const some = searches.slice(from, from + mostSearches);
    const entries = some.map((url) => JSON.stringify({ request: { method: 'GET', url } }));
    const answers = (await sendBatch(portico, entries)) ?? [];
    some.forEach((url, at) => {
      const { resource } = answers[at] ?? {};
      const ids = resource?.resourceType === 'Bundle' ? (resource.entry ?? []) : [];
      found.push({
        type: url.slice(0, url.indexOf('?')),
        ids: ids.flatMap(({ resource: one }) => one?.id ?? []),
      });
    });
  }
  return found;
}
