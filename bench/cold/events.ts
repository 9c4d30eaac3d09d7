import { allRoutes } from '../../functions/routes.ts';
import { buildEvent } from '../../infra/local/gateway/http-api.ts';
import { matchRoute } from '../../shared/carry/http/routes.ts';
import { httpClient } from '../load/http-client.ts';
import { newBot } from '../load/steps.ts';
import type { BenchStack } from '../stack.ts';

/** A first call of each function, as API Gateway would hand it over, that is answered 200. */
export async function firstEvents(bench: BenchStack) {
  const { baseUrl, token, projectId } = bench;
  const identifier = { system: 'https://example.org', value: 'cold' };
  const http = httpClient();
  const code = 'exports.handler = async (medplum, event) => event.input;';
  const id = await newBot({ http, baseUrl, token }, projectId, code, identifier);
  http.close();
  const patient = await bench.post(
    'fhir/R4/Patient',
    '{"resourceType":"Patient"}',
    'application/fhir+json',
    201,
  );
  const event = (method: string, path: string, body: object | undefined) =>
    eventOf(method, path, body, token);
  const person = { resourceType: 'Patient', firstName: 'Ann', lastName: 'Lee', sendEmail: false };
  return {
    'execute-by-id': event('POST', `/fhir/R4/Bot/${id}/$execute`, { a: 1 }),
    'execute-by-identifier': event('POST', '/fhir/R4/Bot/$execute?identifier=https://example.org|cold', {
      a: 1,
    }),
    invite: event('POST', `/admin/projects/${projectId}/invite`, { ...person, email: 'cold@example.org' }),
    'resources create': event('POST', '/fhir/R4/Patient', { resourceType: 'Patient' }),
    resources: event('GET', `/fhir/R4/Patient/${(JSON.parse(patient) as { id: string }).id}`, undefined),
  };
}

function eventOf(method: string, target: string, body: object | undefined, token: string) {
  const path = target.split('?')[0] ?? '';
  const matched = matchRoute(allRoutes, method, path);
  if (!matched) throw new Error(`No route for ${method} ${path}`);
  const headers = {
    host: 'api.example.org',
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  };
  const request = {
    ...{ method, target, httpVersion: '1.1', sourceIp: '203.0.113.7', port: 443 },
    rawHeaders: Object.entries(headers).flat(),
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
  };
  const traceId = 'Root=1-00000000-000000000000000000000000';
  return buildEvent(request, path, matched, { requestId: 'request', traceId, atMs: Date.now() });
}
