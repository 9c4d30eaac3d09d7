import { errorName } from '../../shared/base/values.ts';

/** What anybody may call, one of each function that needs no caller, and one that has to refuse. */
const looks = [
  { path: '/fhir/R4/metadata', status: 200 },
  { path: '/.well-known/openid-configuration', status: 200 },
  { path: '/.well-known/jwks.json', status: 200 },
  { path: '/app', status: 200 },
  // Whoever calls without a token is turned away.
  { path: '/auth/me', status: 401 },
] as const;

interface Seen {
  path: string;
  isWell: boolean;
  /** What was answered, or the kind of error. */
  answer: number | string;
  ms: number;
}

/** Calls the API from outside, as its callers reach it: name, certificate, gateway and functions. */
export function look(baseUrl: string, patienceMs: number): Promise<Seen[]> {
  return Promise.all(
    looks.map(async ({ path, status }) => {
      const startedMs = performance.now();
      const answer = await answerOf(`${baseUrl}${path}`, patienceMs);
      return { path, isWell: answer === status, answer, ms: Math.round(performance.now() - startedMs) };
    }),
  );
}

/** @throws {Error} naming what did not answer, or not as it should */
export function requireWell(seen: readonly Seen[]): void {
  const bad = seen.filter(({ isWell }) => !isWell).map(({ path }) => path);
  if (bad.length > 0) throw new Error(`Not well: ${bad.join(', ')}`);
}

async function answerOf(url: string, patienceMs: number): Promise<number | string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(patienceMs) });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return errorName(error);
  }
}
