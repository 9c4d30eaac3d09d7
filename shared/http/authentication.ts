import { type Caller, unauthorized, verifyAccessToken } from '../auth/token.ts';
import type { Services } from '../services.ts';
import type { HttpRequest } from './request.ts';

/** The caller that the Bearer token names (RFC 6750 section 2.1). @throws {Refusal} unauthorized */
export async function authenticate(services: Services, request: HttpRequest): Promise<Caller> {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (!token) throw unauthorized('no bearer token');
  return verifyAccessToken(services.publicKeys, token, { baseUrl: services.baseUrl, nowMs: services.now() });
}
