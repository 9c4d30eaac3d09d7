import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { mintRunToken } from '../../shared/auth/run-token.ts';
import { authenticated, lambdaHandler } from '../../shared/http/endpoint.ts';
import { fhirResponse } from '../../shared/http/response.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { callsOf, newProject, type Stage, startStage } from './stage.ts';

let stage: Stage;
let event: APIGatewayProxyEventV2;
const secret = new Uint8Array(32);

beforeAll(async () => {
  stage = await startStage();
  const { project, membershipId } = await newProject(stage);
  const run = { id: 'r', depth: 1, deadlineAtMs: stage.services.now() + 60_000 };
  const token = mintRunToken(secret, { project, botId: 'b', membershipId }, run);
  event = {
    headers: { authorization: `Bearer ${token}` },
    requestContext: { http: { method: 'GET', sourceIp: '::1' } },
    routeKey: 'GET /fhir/R4/{resourceType}/{id}',
    pathParameters: { resourceType: 'Patient', id: 'p' },
    rawPath: '/fhir/R4/Patient/p',
    rawQueryString: '',
  } as unknown as APIGatewayProxyEventV2;
});
afterAll(() => stage.stop());

function answer(change: Partial<Services>, kind: 'forbidden' | 'throttled' | 'none') {
  const services = { ...stage.services, runSecret: async () => secret, ...change };
  const run = async () => {
    if (kind !== 'none') throw new Refusal(kind, 'No');
  };
  const endpoint = authenticated({ access: 'token' }, 'raw', run, () => fhirResponse(200, {}));
  return lambdaHandler(services, endpoint)(structuredClone(event), {} as Context);
}

test('a refusal costs one write beside the answer, everything else none', async () => {
  const calls = (kind: 'forbidden' | 'throttled' | 'none') => callsOf(stage.client, () => answer({}, kind));
  expect(await calls('forbidden')).toEqual(['PutItem']);
  expect(await calls('throttled')).toEqual([]);
  expect(await calls('none')).toEqual([]);
});

test('an entry that cannot be written changes no answer, and the log says that it is lost', async () => {
  const lines: unknown[] = [];
  const log = { info: () => undefined, error: (message: string) => lines.push(message) };
  const put = async () => {
    throw new Error('down');
  };
  const table = { ...stage.services.table, put };
  const [lost, written] = [await answer({ table, log }, 'forbidden'), await answer({}, 'forbidden')];
  expect([lost.statusCode, lost.body]).toEqual([403, written.body]);
  expect(lines).toEqual(['audit entry lost']);
});
