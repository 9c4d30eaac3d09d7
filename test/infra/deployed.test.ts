import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SQSBatchResponse } from 'aws-lambda';
import { allRoutes, type Route } from '../../functions/routes.ts';
import { eventFunctions } from '../../infra/deployed-functions.ts';
import { permissions } from '../../infra/permissions.ts';
import { queues } from '../../infra/queues.ts';
import { sqsQueue } from '../../shared/aws/sqs.ts';
import { type Key, keys } from '../../shared/carry/table/keys.ts';
import { keyMessage, type Purpose } from '../../shared/carry/work/queue.ts';
import { type Audited, auditItem } from '../../shared/identity/audit/audit-event.ts';
import { type HostedStage, startHostedStage } from './hosted-stage.ts';

let stage: HostedStage;

beforeAll(async () => {
  stage = await startHostedStage();
  await stage.host('stage-keys').invoke({ ensure: true });
}, 300_000);
afterAll(() => stage?.stop());

it('runs where no node_modules can help it', () => {
  for (let folder = stage.root; folder !== tmpdir(); folder = dirname(folder)) {
    expect(existsSync(join(folder, 'node_modules'))).toBe(false);
  }
});

describe('without a token', () => {
  const rows = allRoutes.map((route) => ({ ...route, line: lineOf(route) }));

  it.each(rows.filter(({ access }) => access !== 'public'))('$method $path is refused', async (route) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await stage.host(route.function).request(route.line, headers, '{}');
    expect(answer).toMatchObject({ statusCode: 401, headers: { 'www-authenticate': 'Bearer' } });
  });

  it.each(rows.filter(({ access }) => access === 'public'))('$method $path answers', async (route) => {
    const answer = await stage.host(route.function).request(route.line, {}, '');
    expect(answer.statusCode).not.toBe(401);
    expect(answer.statusCode).toBeLessThan(500);
  });
});

describe('the main job, by the bundles alone', () => {
  let project: string;
  let authorization: string;
  let botId: string;
  const identifier = { system: 'https://example.org/bots', value: 'echo' };

  it('provisions a Project with a client', async () => {
    const password = 'correct horse battery';
    const admin = { email: 'ada@example.org', firstName: 'Ada', lastName: 'Admin', password };
    const event = { name: 'Clinic', admin, client: true };
    const made = (await stage.host('provision').invoke(event)) as Provisioned;
    project = made.project.id;
    const credentials = Buffer.from(`${made.client.id}:${made.client.secret}`).toString('base64');
    const answer = await stage
      .host('token')
      .request(
        'POST /oauth2/token',
        { authorization: `Basic ${credentials}`, 'content-type': 'application/x-www-form-urlencoded' },
        'grant_type=client_credentials',
      );
    expect(answer.statusCode).toBe(200);
    authorization = `Bearer ${JSON.parse(answer.body ?? '').access_token}`;
  });

  it('says who the client is', async () => {
    const answer = await stage.host('account').request('GET /auth/me', { authorization }, '');
    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ project: { id: project } });
  });

  it('invites a person', async () => {
    const body = { resourceType: 'Patient', firstName: 'Pat', lastName: 'Ient', email: 'pat@example.org' };
    const answer = await sendJson('invite', `POST /admin/projects/${project}/invite`, body);
    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ resourceType: 'ProjectMembership', active: false });
  });

  it('creates and deploys a Bot', async () => {
    const bot = { name: 'Echo', identifier: [identifier] };
    const created = await sendJson('bots', `POST /admin/projects/${project}/bot`, bot);
    expect(created.statusCode).toBe(201);
    botId = JSON.parse(created.body ?? '').id;
    const code = 'export async function handler(medplum, event) { return { got: event.input }; }';
    const line = `POST /fhir/R4/Bot/${botId}/$deploy` as const;
    const deployed = await sendJson('bots', line, { code, filename: 'index.js' });
    expect({ status: deployed.statusCode, body: deployed.body }).toMatchObject({ status: 200 });
  });

  it('executes it by id and by identifier', async () => {
    const byIdentifier = `${identifier.system}|${identifier.value}`;
    for (const [name, line] of [
      ['execute-by-id', `POST /fhir/R4/Bot/${botId}/$execute`],
      ['execute-by-identifier', `POST /fhir/R4/Bot/$execute?identifier=${byIdentifier}`],
    ] as const) {
      const headers = { authorization, 'content-type': 'text/plain' };
      const answer = await stage.host(name).request(line, headers, 'hello');
      expect({ status: answer.statusCode, body: answer.body }).toEqual({
        status: 200,
        body: '{"got":"hello"}',
      });
    }
  });

  it('executes it for a caller who does not wait', async () => {
    const headers = { authorization, 'content-type': 'text/plain', prefer: 'respond-async' };
    const line = `POST /fhir/R4/Bot/${botId}/$execute` as const;
    const answer = await stage.host('execute-by-id').request(line, headers, 'later');
    expect(answer.statusCode).toBe(202);
    const path = new URL(String(answer.headers?.['content-location'])).pathname;
    for (let attempt = 0; ; attempt++) {
      const job = await stage.host('resources').request(`GET ${path}`, { authorization }, '');
      if (job.statusCode === 202 && attempt < 200) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      expect(JSON.parse(job.body ?? '')).toMatchObject({
        status: 'completed',
        output: { parameter: [{ valueString: '{"got":"later"}' }] },
      });
      return;
    }
  });

  it('creates, reads and deletes a resource', async () => {
    const created = await sendJson('resources', 'POST /fhir/R4/Patient', { resourceType: 'Patient' });
    expect(created.statusCode).toBe(201);
    const { id } = JSON.parse(created.body ?? '');
    for (const [method, status] of [
      ['GET', 200],
      ['DELETE', 200],
      ['GET', 410],
    ] as const) {
      const line = `${method} /fhir/R4/Patient/${id}` as const;
      expect((await stage.host('resources').request(line, { authorization }, '')).statusCode).toBe(status);
    }
  });

  it('wakes a Bot for a Subscription with an expression', async () => {
    const url = 'https://medplum.com/fhir/StructureDefinition/fhir-path-criteria-expression';
    const body = {
      ...{ resourceType: 'Subscription', status: 'active', reason: 'Told', criteria: 'Patient?gender=other' },
      extension: [{ url, valueString: '%current.active' }],
      channel: { type: 'rest-hook', endpoint: `Bot/${botId}` },
    };
    const made = await sendJson('resources', 'POST /fhir/R4/Subscription', body);
    expect({ status: made.statusCode, body: made.body }).toMatchObject({ status: 201 });
    const { id, meta } = JSON.parse(made.body ?? '');
    const message = { project, id, versionId: meta.versionId };
    const status = { Records: [{ messageId: '1', body: JSON.stringify(message) }] };
    expect(await stage.host('subscription-status').invoke(status)).toEqual({ batchItemFailures: [] });
    const read = `GET /fhir/R4/Subscription/${id}` as const;
    const active = await stage.host('resources').request(read, { authorization }, '');
    expect(JSON.parse(active.body ?? '').status).toBe('active');

    const resource = { resourceType: 'Patient', gender: 'other', active: true };
    const patient = JSON.parse((await sendJson('resources', 'POST /fhir/R4/Patient', resource)).body ?? '');
    const head = keys.resource(project, 'Patient', patient.id);
    const NewImage = {
      ...{ pk: { S: head.pk }, sk: { S: head.sk } },
      ...{ versionId: { S: patient.meta.versionId }, lastUpdated: { S: patient.meta.lastUpdated } },
    };
    const Records = [{ eventName: 'INSERT', dynamodb: { NewImage } }];
    expect(await stage.host('dispatch').invoke({ Records })).toEqual({ batchItemFailures: [] });
    for (const purpose of ['subscriptions', 'deliveries'] as const) {
      expect(await take(purpose)).toMatchObject({ batchItemFailures: [] });
    }
    const line = `GET /fhir/R4/Subscription/${id}/$deliveries` as const;
    const listed = await stage.host('subscriptions').request(line, { authorization }, '');
    expect(JSON.parse(listed.body ?? '').entry).toMatchObject([{ resource: { outcomeDesc: 'returned' } }]);
  });

  it('exports the Project', async () => {
    const headers = { authorization, prefer: 'respond-async' };
    const begun = await stage.host('resources').request('GET /fhir/R4/$export?_type=Bot', headers, '');
    expect(begun.statusCode).toBe(202);
    const { pathname } = new URL(String(begun.headers?.['content-location']));
    const { pk, sk } = keys.export(project, pathname.split('/').at(-1) ?? '');
    const NewImage = { pk: { S: pk }, sk: { S: sk }, untidy: { BOOL: true } };
    const Records = [{ eventName: 'INSERT', dynamodb: { NewImage } }];
    expect(await stage.host('dispatch').invoke({ Records })).toEqual({ batchItemFailures: [] });
    expect(await take('exports')).toEqual({ batchItemFailures: [], messages: 1 });
    const ended = await stage.host('resources').request(`GET ${pathname}`, { authorization }, '');
    const { output } = JSON.parse(ended.body ?? '');
    expect(output).toMatchObject([{ type: 'Bot', count: 1 }]);
    const line = `GET ${new URL(output[0].url).pathname}` as const;
    const file = await stage.host('resources').request(line, { authorization }, '');
    expect(Buffer.from(file.body ?? '', 'base64').toString()).toContain(botId);
    const cancel = `DELETE ${pathname}` as const;
    expect((await stage.host('resources').request(cancel, { authorization }, '')).statusCode).toBe(202);
    const after = { ...NewImage, status: { S: 'cancelled' } };
    const changed = { eventName: 'MODIFY', dynamodb: { NewImage: after } };
    expect(await stage.host('dispatch').invoke({ Records: [changed] })).toEqual({ batchItemFailures: [] });
    expect(await take('exports')).toEqual({ batchItemFailures: [], messages: 1 });
    expect((await stage.table.read([{ pk, sk }])).get({ pk, sk })).toBeUndefined();
  });

  it('reindexes', async () => {
    expect(await stage.host('reindex').invoke({})).toMatchObject({ done: true });
  });

  it('hands changes to the queues, whose functions take them', async () => {
    const image = ({ pk, sk }: Key, more: object) => ({ pk: { S: pk }, sk: { S: sk }, ...more });
    const created = { versionId: { S: '1' }, lastUpdated: { S: '2026-01-01T00:00:00.000Z' } };
    const images = [
      image(keys.outbox(project, 'nobody'), { generation: { N: '1' } }),
      image(keys.resource(project, 'AuditEvent', 'entry'), { untidy: { BOOL: true } }),
      image(keys.resource(project, 'Project', project), created),
    ];
    const Records = images.map((NewImage) => ({ eventName: 'INSERT', dynamodb: { NewImage } }));
    expect(await stage.host('dispatch').invoke({ Records })).toEqual({ batchItemFailures: [] });
    for (const purpose of ['mail', 'audit', 'bus'] as const) {
      expect(await take(purpose)).toEqual({ batchItemFailures: [], messages: 1 });
    }
  });

  it('exports a Project', async () => {
    const headers = { authorization, prefer: 'respond-async' };
    const line = 'GET /fhir/R4/$export?_type=Patient,AuditEvent&includeAssociatedData=_people,_code' as const;
    const accepted = await stage.host('resources').request(line, headers, '');
    expect(accepted.statusCode).toBe(202);
    const { pathname } = new URL(String(accepted.headers?.['content-location']));
    const { pk, sk } = keys.export(project, pathname.split('/').at(-1) ?? '');
    const image = { pk: { S: pk }, sk: { S: sk }, untidy: { BOOL: true } };
    await stage
      .host('dispatch')
      .invoke({ Records: [{ eventName: 'INSERT', dynamodb: { NewImage: image } }] });
    const taken = Promise.withResolvers<unknown>();
    const following = await stage.queues.follow('exports', async (event) => {
      const answer = (await stage.host('export').invoke(event)) as SQSBatchResponse;
      taken.resolve(answer);
      return answer;
    });
    expect(await taken.promise).toEqual({ batchItemFailures: [] });
    await following.stop();
    const get = (path: string) => stage.host('resources').request(`GET ${path}`, { authorization }, '');
    const { output } = JSON.parse((await get(pathname)).body ?? '');
    const types = output.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['AuditEvent', 'BotCode', 'Patient', 'User']);
    expect(await get(new URL(output[0].url).pathname)).toMatchObject({
      statusCode: 200,
      isBase64Encoded: true,
    });
  });

  it('tries again with the sweep what had been given up', async () => {
    const url = stage.queueUrls.AUDIT_DEAD_LETTERS ?? '';
    const audited: Audited = {
      ...{ project, subtype: 'invite', action: 'C', outcome: '0' },
      ...{ agent: { reference: 'Practitioner/lost' }, entities: [] },
    };
    const entry = auditItem(audited, randomUUID(), Date.now());
    await stage.table.put(entry);
    const find = async () => {
      const line = 'GET /fhir/R4/AuditEvent?agent=Practitioner/lost' as const;
      const answer = await stage.host('resources').request(line, { authorization }, '');
      return JSON.parse(answer.body ?? '').entry?.length ?? 0;
    };
    expect(await find()).toBe(0);
    expect(await sqsQueue(url).send([keyMessage(entry)])).toEqual([]);
    await stage.host('audit').invoke({ source: 'aws.events' });
    expect(await find()).toBe(1);
  });

  it('ticks', async () => {
    expect(await stage.host('tick').invoke({ source: 'aws.events' })).toBeFalsy();
  });

  it.each(Object.keys(eventFunctions))('%s sweeps', async (name) => {
    expect(await stage.host(name).invoke({ source: 'aws.events' })).toEqual({ batchItemFailures: [] });
  });

  it.each(Object.entries(permissions))(
    '%s has asked the table for nothing beyond its role',
    (name, { table }) => {
      const allowed: readonly string[] = table;
      const asked = stage.actionsOf(name);
      expect(asked.filter((action) => !allowed.includes(action))).toEqual([]);
      const unasked = ['members', 'site', 'bus', 'access-records', 'canary'];
      expect(asked.length > 0).toBe(!unasked.includes(name));
    },
  );

  /** Has the consumer of a queue take what is in it. */
  async function take(purpose: Purpose) {
    const taken = Promise.withResolvers<SQSBatchResponse & { messages: number }>();
    const following = await stage.queues.follow(purpose, async (event) => {
      const answer = (await stage.host(queues[purpose].consumer).invoke(event)) as SQSBatchResponse;
      taken.resolve({ ...answer, messages: event.Records.length });
      return answer;
    });
    const answer = await taken.promise;
    await following.stop();
    return answer;
  }

  function sendJson(name: string, line: `${string} ${string}`, body: object) {
    const headers = { authorization, 'content-type': 'application/json' };
    return stage.host(name).request(line, headers, JSON.stringify(body));
  }
});

interface Provisioned {
  project: { id: string };
  client: { id: string; secret: string };
}

/** A request that the route matches. */
function lineOf({ method, path }: Route): `${string} ${string}` {
  if (path === '$default') return 'GET /no/such/path';
  return `${method} ${path.replace('{resourceType}', 'Patient').replaceAll(/\{\w+\+?\}/g, 'x')}`;
}
