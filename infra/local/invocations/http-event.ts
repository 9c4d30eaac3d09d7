import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { allRoutes } from '../../../functions/routes.ts';
import { matchRoute } from '../../../shared/http/match-route.ts';
import { buildEvent } from '../gateway/event.ts';

/**
 * A request as API Gateway hands it over.
 * @param line method and target, `GET /fhir/R4/Patient?_count=1`
 */
export function httpEvent(
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): APIGatewayProxyEventV2 {
  const [method = '', target = ''] = line.split(' ');
  const path = decodeURIComponent(target.split('?', 1)[0] ?? '');
  const matched = matchRoute(allRoutes, method, path);
  if (!matched) throw new Error(`No route for ${line}`);
  const request = {
    ...{ method, target, httpVersion: '1.1', sourceIp: '203.0.113.7', port: 443 },
    rawHeaders: Object.entries({ host: 'api.example.org', ...headers }).flat(),
    ...(body === '' ? {} : { body: Buffer.from(body) }),
  };
  const traceId = 'Root=1-00000000-000000000000000000000000';
  return buildEvent(request, path, matched, { requestId: randomUUID(), traceId, atMs: Date.now() });
}
