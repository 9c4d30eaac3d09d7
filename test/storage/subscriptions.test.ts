import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Message } from '../../shared/carry/work/queue.ts';
import { subscriptionMessages } from '../../shared/records/dispatch/dispatch.ts';
import { changeStatus } from '../../shared/records/subscriptions/change-status.ts';
import { knownSubscriptions, listedItem } from '../../shared/records/subscriptions/listed.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { createActions } from '../../shared/store/items/change.ts';
import { callsOf, getItem, newProject, newResource, type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

const since = '2026-01-01T00:00:00.000Z';

const headOf = (project: string, type: string, versionId: string, more = {}) => ({
  ...keys.resource(project, type, 'x'),
  ...{ versionId, lastUpdated: new Date(stage.clock.nowMs).toISOString(), ...more },
});

async function subscriptions(project: string, type: string, count: number): Promise<void> {
  await stage.services.table.write(
    Array.from({ length: count }, () => listedItem(project, { id: randomUUID(), type, since })),
  );
}

const dispatcher = () => {
  const looking = { subscriptions: knownSubscriptions(stage.services, 10_000), knownAfterSeconds: 11 };
  return (project: string, type: string, versionId: string, before?: string, more = {}) =>
    subscriptionMessages(looking, {
      before: before === undefined ? undefined : headOf(project, type, before),
      after: headOf(project, type, versionId, more),
    });
};

describe('a write', () => {
  test('in a Project without Subscriptions costs one look in ten seconds, and no message', async () => {
    const dispatch = dispatcher();
    const project = randomUUID();
    const calls = await callsOf(stage.client, async () => {
      for (let n = 0; n < 50; n++) expect(await dispatch(project, 'Patient', String(n))).toEqual({});
    });
    expect(calls).toEqual(['Query']);
    stage.clock.nowMs += 10_001;
    expect(await callsOf(stage.client, () => dispatch(project, 'Patient', 'next'))).toEqual(['Query']);
  });

  test('costs the same beside a hundred Subscriptions to other types', async () => {
    const dispatch = dispatcher();
    const project = randomUUID();
    await subscriptions(project, 'Observation', 100);
    const calls = await callsOf(stage.client, async () => {
      for (let n = 0; n < 50; n++) expect(await dispatch(project, 'Patient', String(n))).toEqual({});
    });
    expect(calls).toEqual(['Query']);
  });

  test('is handed on with the Subscriptions to its type, and nothing of the record', async () => {
    const dispatch = dispatcher();
    const project = randomUUID();
    await subscriptions(project, 'Patient', 2);
    const messages = await dispatch(project, 'Patient', '2', '1', { content: 'Zebra' });
    expect(messages.subscriptions?.body).toMatchObject({
      interaction: 'update',
      previous: { versionId: '1' },
    });
    const { subscriptions: ids } = (messages.subscriptions?.body ?? {}) as { subscriptions?: string[] };
    expect(ids).toHaveLength(2);
    expect(JSON.stringify(messages)).not.toContain('Zebra');
  });

  test('of another Project, or before a Subscription was asked for, is not', async () => {
    const dispatch = dispatcher();
    const [project, other] = [randomUUID(), randomUUID()];
    await subscriptions(project, 'Patient', 1);
    expect(await dispatch(other, 'Patient', '1')).toEqual({});
    const early = { lastUpdated: '2025-12-31T23:59:59.999Z' };
    expect(await dispatch(project, 'Patient', '1', undefined, early)).toEqual({});
  });

  test('of something beside the record is none', async () => {
    const dispatch = dispatcher();
    const project = randomUUID();
    await subscriptions(project, 'Patient', 1);
    expect(await dispatch(project, 'Patient', '1', '1', { refs: 2 })).toEqual({});
  });

  test('of a Subscription is known at once here, and everywhere before it becomes active', async () => {
    const dispatch = dispatcher();
    const project = randomUUID();
    expect(await dispatch(project, 'Patient', '1')).toEqual({});
    await subscriptions(project, 'Patient', 1);
    const written = await dispatch(project, 'Subscription', '1', undefined, { isRequested: true });
    expect(written['subscription-status']).toEqual({
      body: { project, id: 'x', versionId: '1' },
      share: project,
      delaySeconds: 11,
    });
    expect(await dispatch(project, 'Patient', '2')).toHaveProperty('subscriptions');
  });
});

describe('a write that is looked at only after its Subscription was saved anew', () => {
  const resourceType = 'Subscription';
  const saved = { resourceType, reason: 'To be told', criteria: 'Patient' };
  const channel = { type: 'rest-hook', endpoint: 'https://93.184.215.14/' };

  /** The Subscription is saved, a Patient is written, the Subscription is saved again. */
  async function handedOn(before: object, after: object): Promise<boolean> {
    const caller = await newProject(stage);
    const { project } = caller;
    const id = randomUUID();
    const lastUpdated = new Date(stage.clock.nowMs).toISOString();
    const meta = { versionId: '1', lastUpdated };
    const resource = { ...saved, channel, status: 'active', ...before, id, meta } as Resource;
    await stage.services.table.transact([
      ...createActions(project, resource),
      { name: 'listed', put: listedItem(project, { id, type: 'Patient', since: lastUpdated }) },
    ]);
    stage.clock.nowMs += 1_000;
    const written = { lastUpdated: new Date(stage.clock.nowMs).toISOString() };
    stage.clock.nowMs += 1_000;
    const body = { ...saved, channel, status: 'active', ...after };
    await carryOut(stage.services, caller, [{ kind: 'update', type: 'Subscription', id, body }]);
    const messages = await dispatcher()(project, 'Patient', '1', undefined, written);
    return messages.subscriptions !== undefined;
  }

  test.each([
    ['was active', {}, { reason: 'Another' }],
    ['was active, with other criteria', {}, { criteria: 'Patient?active=true' }],
    ['was in error', { status: 'error', error: '10 deliveries failed' }, {}],
    ['was requested', { status: 'requested' }, { reason: 'Another' }],
  ])('is for one that %s', async (_, before, after) => {
    expect(await handedOn(before, after)).toBe(true);
  });

  test('is not for one that was off, or was to another type', async () => {
    expect(await handedOn({ status: 'off' }, {})).toBe(false);
    expect(await handedOn({ criteria: 'Observation' }, {})).toBe(false);
  });
});

test('a failure that is told of after its Subscription was saved anew ends nothing, and what waits is tried', async () => {
  const { project } = await newProject(stage);
  const fields = { resourceType: 'Subscription', status: 'active', criteria: 'Patient' };
  const [, id = ''] = (await newResource(stage, project, fields)).split('/');
  const waiting = { ...keys.waitingLane(project, id, 'Patient#1'), note: 'note' };
  const sent: Message[] = [];
  const deliveries = {
    async send(messages: readonly Message[]) {
      sent.push(...messages);
      await meanwhile();
      return [];
    },
  };
  let meanwhile = async (): Promise<void> => undefined;
  const services = { ...stage.services, queues: { deliveries } };
  const statusNow = async () => {
    const item = await getItem(stage.services, keys.resource(project, 'Subscription', id));
    return [item?.versionId, JSON.parse(String(item?.content)).status];
  };
  const [versionId] = await statusNow();

  await stage.services.table.put(waiting);
  await changeStatus(services, { project, id, versionId: 'earlier', failed: '10 deliveries failed' });
  expect(await statusNow()).toEqual([versionId, 'active']);
  expect(sent.map(({ body }) => body)).toEqual([{ project, subscriptionId: id, lane: 'Patient#1' }]);
  expect(await getItem(stage.services, waiting)).toBeUndefined();
  // What is noted while those are handed on is not lost.
  await stage.services.table.put(waiting);
  meanwhile = () => stage.services.table.put({ ...waiting, note: 'later' });
  await changeStatus(services, { project, id, versionId: 'earlier', failed: '10 deliveries failed' });
  expect(await getItem(stage.services, waiting)).toMatchObject({ note: 'later' });

  await changeStatus(services, { project, id, versionId: String(versionId), failed: '10 deliveries failed' });
  expect(await statusNow()).toEqual([expect.not.stringMatching(String(versionId)), 'error']);
});
