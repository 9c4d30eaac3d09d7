import { isRunToken, verifyRunToken } from '../auth/run-token.ts';
import { type Caller, unauthorized, verifyAccessToken } from '../auth/token.ts';
import type { Services } from '../services.ts';
import type { HttpRequest } from './request.ts';

/** The caller that the Bearer token names (RFC 6750 section 2.1). @throws {Refusal} unauthorized */
export async function authenticate(services: Services, request: HttpRequest): Promise<Caller> {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (!token) throw unauthorized('no bearer token');
  if (isRunToken(token)) return verifyRun(services, token);
  return verifyAccessToken(services.publicKeys, token, { baseUrl: services.baseUrl, nowMs: services.now() });
}

/** A Bot's own token is good under fhir/R4 only: other functions do not hold the key. */
async function verifyRun({ runSecret, now }: Services, token: string): Promise<Caller> {
  if (!runSecret) throw unauthorized('a run token outside fhir/R4');
  return verifyRunToken(await runSecret(), token, now());
}
