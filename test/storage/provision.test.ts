import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseHead } from '../../shared/carry/table/keys.ts';
import type { Message } from '../../shared/carry/work/queue.ts';
import { callerOf } from '../../shared/identity/gate/access-token.ts';
import { changeProject } from '../../shared/identity/projects/change-settings.ts';
import { type ProvisionRequest, provision } from '../../shared/identity/projects/provision.ts';
import { listedItem } from '../../shared/records/subscriptions/listed.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { isResourceType } from '../../shared/store/index/registry.ts';
import { scanAll } from './scan-all.ts';
import { newProject, type Stage, startStage } from './stage.ts';
import { storedResource } from './stored.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

const request: ProvisionRequest = {
  name: 'Clinic',
  admin: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Min' },
};

describe('a Project is not made', () => {
  test.each<[string, object]>([
    ['a name with a header', { name: 'Clinic\r\nBcc: eve@example.com' }],
    ['a name that ends its line', { name: 'Clinic\n' }],
    ['no name', { name: '' }],
    [
      'an address with a header',
      { admin: { ...request.admin, email: 'a@example.com\r\nBcc: b@example.com' } },
    ],
    ['a list of addresses', { admin: { ...request.admin, email: 'a@example.com, b@example.com' } }],
    ['an administrator without a name', { admin: { ...request.admin, lastName: '' } }],
  ])('with %s, and nothing is written', async (_, change) => {
    await expect(provision(stage.services, { ...request, ...change })).rejects.toThrow('Needs');
    expect(await scanAll(stage.client, stage.tableName)).toEqual([]);
  });
});

test('what is made with a Project stands in one AuditEvent', async () => {
  const { project } = await provision(stage.services, { ...request, client: true });
  const items = await scanAll(stage.client, stage.tableName);
  const heads = items.flatMap((item) => parseHead(item) ?? []).filter(({ project: of }) => of === project.id);
  const [event, ...more] = items
    .filter((item) => parseHead(item)?.type === 'AuditEvent')
    .map((item) => storedResource(item));
  expect(more).toEqual([]);
  const entities = (event?.entity ?? []) as { what: { reference: string } }[];
  const named = entities.map(({ what }) => what.reference);
  const made = heads
    .filter(({ type }) => isResourceType(type) && type !== 'AuditEvent')
    .map(({ type, id }) => `${type}/${id}`);
  expect(made).toHaveLength(5);
  expect(named.filter((reference) => !reference.startsWith('User/')).sort()).toEqual(made.sort());
});

describe('a Project that is there', () => {
  const told: unknown[] = [];
  const services = () => ({
    ...stage.services,
    queues: {
      'subscription-status': {
        send: async (messages: readonly Message[]) => {
          told.push(...messages.map(({ body }) => body));
          return [];
        },
      },
    },
  });

  test('is changed in what is said, and keeps the rest', async () => {
    const { project } = await provision(stage.services, { ...request, subscriptions: 7, treeRuns: 9 });
    const { id } = project;
    expect(await changeProject(services(), { project: id, subscriptions: 250, schedules: 3 })).toEqual({
      project: {
        id,
        paused: false,
        emitExecutions: false,
        auditReads: false,
        disabled: false,
        featuresOff: [],
        idleMinutes: 0,
        subscriptions: 250,
        schedules: 3,
        treeRuns: 9,
      },
    });
    expect(
      await changeProject(services(), { project: id, paused: true, emitExecutions: true }),
    ).toMatchObject({
      project: { paused: true, emitExecutions: true, subscriptions: 250 },
    });
    expect(told).toEqual([]);
    await stage.services.table.write([
      listedItem(id, { id: 's', type: 'Patient', since: '2026-01-01T00:00:00.000Z' }),
    ]);
    const goesOn = await changeProject(services(), { project: id, paused: false });
    expect(goesOn.project.paused).toBe(false);
    expect(told).toEqual([{ project: id, id: 's' }]);
    const audited = (await scanAll(stage.client, stage.tableName))
      .filter((item) => parseHead(item)?.type === 'AuditEvent')
      .map((item) => JSON.stringify(storedResource(item)));
    expect(
      audited.filter((text) => text.includes('{"type":"subscriptions","valueString":"250"}')),
    ).toHaveLength(1);
  });

  test('has room for as many Subscriptions as is said then', async () => {
    const { admission: _, ...claims } = await newProject(stage);
    const { project } = claims;
    const channel = { type: 'rest-hook', endpoint: 'https://example.org/hook' };
    const body = { resourceType: 'Subscription', status: 'off', reason: 'x', criteria: 'Patient', channel };
    const create = () =>
      carryOut(stage.services, callerOf(claims, 'administrator'), [
        { kind: 'create', type: 'Subscription', body },
      ]);
    await changeProject(services(), { project, subscriptions: 1 });
    await create();
    await expect(create()).rejects.toThrow('at most 1 Subscriptions');
    await changeProject(services(), { project, subscriptions: 2 });
    await create();
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['nothing', {}, 'Nothing'],
    ['a cap of none', { subscriptions: 0 }, 'subscriptions'],
    ['too much', { schedules: 1_001 }, 'schedules'],
    ['a word for a switch', { paused: 'yes' }, 'paused'],
  ])('is not changed by %s', async (_name, change, text) => {
    const { project } = await provision(stage.services, request);
    await expect(changeProject(services(), { project: project.id, ...change })).rejects.toThrow(text);
  });

  test('is not made by a change', async () => {
    await expect(changeProject(services(), { project: 'none', paused: true })).rejects.toThrow();
    const items = await scanAll(stage.client, stage.tableName);
    expect(items.filter(({ pk }) => pk.startsWith('P#none#'))).toEqual([]);
  });
});
