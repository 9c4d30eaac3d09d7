import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { subscriptionMessages } from '../../functions/dispatch/subscription-messages.ts';
import { knownSubscriptions, listedItem } from '../../shared/subscription/listed.ts';
import { keys } from '../../shared/table/keys.ts';
import { callsOf, type Stage, startStage } from './stage.ts';

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
      delaySeconds: 11,
    });
    expect(await dispatch(project, 'Patient', '2')).toHaveProperty('subscriptions');
  });
});
