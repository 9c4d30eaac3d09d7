import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { lambdaContext } from '../../infra/local/context.ts';
import { Refusal } from '../../shared/base/refusal.ts';
import { fhirResponse } from '../../shared/carry/http/response.ts';
import type { Services } from '../../shared/carry/services.ts';
import { mintRunToken } from '../../shared/identity/gate/access-token.ts';
import { admit } from '../../shared/identity/gate/actor.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { ringOf } from '../setup/key-rings.ts';
import { callsOf, newProject, type Stage, startStage } from './stage.ts';

let stage: Stage;
let event: APIGatewayProxyEventV2;
const runTokenKeys = ringOf(new Uint8Array(32));

beforeAll(async () => {
  stage = await startStage();
  const { project, membershipId } = await newProject(stage);
  const run = { id: 'r', root: 'r', depth: 1, deadlineAtMs: stage.services.now() + 60_000 };
  const token = await mintRunToken(runTokenKeys, { project, botId: 'b', membershipId }, run);
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
  const services = { ...stage.services, runTokenKeys, ...change };
  const read = {
    method: 'GET',
    path: '/fhir/R4/{resourceType}/{id}',
    access: 'member',
    signIn: 'any',
  } as const;
  const rows = { read };
  const handler = serve(services, rows, (own) => ({
    read: async ({ caller }) => {
      await admit(own, caller, []);
      if (kind !== 'none') throw new Refusal(kind, 'No');
      return fhirResponse(200, {});
    },
  }));
  return handler(structuredClone(event), lambdaContext('resources', 1000));
}

test('a refusal costs one write beside the answer, everything else none', async () => {
  const calls = (kind: 'forbidden' | 'throttled' | 'none') => callsOf(stage.client, () => answer({}, kind));
  expect(await calls('forbidden')).toEqual(['BatchGetItem', 'PutItem']);
  expect(await calls('throttled')).toEqual(['BatchGetItem']);
  expect(await calls('none')).toEqual(['BatchGetItem']);
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
