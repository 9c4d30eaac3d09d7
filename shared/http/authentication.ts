import {
  type Caller,
  type Claims,
  callerOf,
  unauthorized,
  verifyAccessToken,
} from '../access/access-token.ts';
import { isRunToken, verifyRunToken } from '../access/run-token.ts';
import { Refusal } from '../refusal.ts';
import type { Services } from '../services.ts';
import type { HttpRequest } from './request.ts';

/** What the Bearer token says of its caller (RFC 6750 section 2.1). @throws {Refusal} unauthorized */
export async function authenticate(
  services: Services,
  request: Pick<HttpRequest, 'headers' | 'route'>,
): Promise<Claims> {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (!token) throw unauthorized('no bearer token');
  if (isRunToken(token)) return verifyRun(services, token, request.route);
  const { publicKeys, baseUrl, memory } = services;
  return verifyAccessToken(publicKeys, token, { baseUrl, nowMs: services.now(), verified: memory.tokens });
}

/** The caller of a public route that knows its callers when they show a token. @throws {Refusal} unauthorized */
export async function callerIfAny(
  services: Services,
  request: Pick<HttpRequest, 'headers' | 'route'>,
): Promise<Caller | undefined> {
  if (request.headers.authorization === undefined) return undefined;
  return callerOf(await authenticate(services, request), 'member');
}

/**
 * A Bot's own token is good under fhir/R4, and to learn whose it is. Other routes refuse every such token alike,
 * forged ones too: most of their functions do not hold the key. A new token would not help: so it is no 401.
 */
async function verifyRun({ runTokenKeys, now }: Services, token: string, route: string): Promise<Claims> {
  if (!runTokenKeys || !forRuns.test(route)) {
    throw new Refusal('forbidden', 'Forbidden', { reason: 'a run token outside fhir/R4' });
  }
  return verifyRunToken(runTokenKeys, token, now());
}

/** Routes that a run may call. */
const forRuns = /^[A-Z]+ \/fhir\/R4(?:\/|$)|^GET \/auth\/me$|^\$default$/;
