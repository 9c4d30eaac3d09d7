import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { busEventNames } from '../../shared/carry/work/bus-event.ts';
import type { ProvisionHandler } from '../../shared/identity/projects/requests.ts';
import { newPerson } from './people.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, deploy, execute, projectOf } from './running.ts';
import { extension, put, subscribe, until, untilStatus } from './subscribing.ts';

let portico: Portico;
let provision: ProvisionHandler;
beforeAll(async () => {
  portico = await startPortico();
  provision = await portico.local.load('provision');
});
afterAll(() => portico.stop());

interface Told {
  source: string;
  'detail-type': string;
  time: string;
  detail: Record<string, unknown>;
}

const ajv = new Ajv2020({ strict: true, validateFormats: false });
const page = readFileSync(resolve(import.meta.dirname, '../../docs/events.md'), 'utf8');
/** The schemas of docs/events.md, by the names of their events. */
const schemas = new Map(
  [...page.matchAll(/^```json\n(.*?)^```/gms)]
    .map(([, text = '']) => JSON.parse(text))
    .filter(({ $id }) => $id !== undefined)
    .map((schema) => [String(schema.$id).replace('urn:portico:event:', ''), ajv.compile(schema)]),
);

async function told(): Promise<Told[]> {
  const text = await readFile(join(portico.local.dataDir, 'events.ndjson'), 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

/** What was told of the thing with this id, once it was told so often. */
const toldOf = (id: string, count: number) =>
  until(async () => {
    const all = (await told()).filter(({ detail }) => Object.values(detail).includes(id));
    return all.length >= count ? all : undefined;
  }, `${count} events of ${id}`);

const namesOf = (events: Told[]) => events.map((event) => event['detail-type']).sort();

describe('the bus is told', () => {
  test('of people who are invited, accept, are changed and removed, with the trace of the request', async () => {
    const { id: project } = projectOf(portico, 0);
    const { membershipId, email } = await newPerson(portico);
    const trace = randomUUID();
    const path = `admin/projects/${project}/members/${membershipId}`;
    const headers = { 'x-trace-id': trace };
    const changed = await portico.api('POST', path, { body: { admin: true }, headers });
    expect(changed.status).toBe(200);
    expect((await portico.api('DELETE', path)).status).toBe(200);
    const events = await toldOf(membershipId, 4);
    expect(namesOf(events)).toEqual([
      'membership.accepted',
      'membership.changed',
      'membership.invited',
      'membership.removed',
    ]);
    const ofChange = events.find((event) => event['detail-type'] === 'membership.changed');
    expect(ofChange).toMatchObject({ source: 'portico', detail: { project, trace, invitation: 'accepted' } });
    expect(new Set(events.map(({ detail }) => detail.trace)).size).toBe(4);
    expect(JSON.stringify(await told())).not.toContain(email);
  });

  test('of deployments, and of runs where the Project asks for them', async () => {
    const { id: project } = projectOf(portico, 0);
    const bot = await botThat(portico, 'return "secret answer";');
    await execute(portico, bot, 'unheard');
    await deploy(portico, bot, 'export async function handler() { throw new Error("Zebra"); }');
    await toldOf(bot, 2);
    expect(await provision({ project, emitExecutions: true })).toMatchObject({
      project: { id: project, emitExecutions: true },
    });
    await execute(portico, bot, 'heard');
    const events = await toldOf(bot, 3);
    expect(namesOf(events)).toEqual(['bot.deployed', 'bot.deployed', 'bot.executed']);
    const ran = events.find((event) => event['detail-type'] === 'bot.executed');
    expect(ran?.detail).toMatchObject({ project, bot, outcome: 'threw', durationMs: expect.any(Number) });
    expect(JSON.stringify(events)).not.toMatch(/Zebra|heard|answer/);
    await provision({ project, emitExecutions: false });
  });

  test('of a Subscription that fails', async () => {
    const bot = await botThat(portico, 'throw new Error();');
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|bus', {
      extension: [extension('subscription-max-attempts', { valueInteger: 1 })],
    });
    await portico.local.store.update({
      Key: { pk: `P#${projectOf(portico, 0).id}#DELIVERING#${id}`, sk: 'HEAD' },
      UpdateExpression: 'SET failures = :n',
      ExpressionAttributeValues: { ':n': 9 },
    });
    await put(portico, { resourceType: 'Patient', meta: { tag: [{ system: 'urn:test', code: 'bus' }] } });
    await untilStatus(portico, id, 'error');
    expect(namesOf(await toldOf(id, 1))).toEqual(['subscription.failed']);
  });

  test('of a new Project', async () => {
    const admin = { email: `${randomUUID()}@example.com`, firstName: 'Ada', lastName: 'Admin' };
    const { project } = await provision({ name: 'Zebra clinic', admin });
    const events = await toldOf(project.id, 2);
    expect(namesOf(events)).toEqual(['membership.invited', 'project.created']);
    expect(JSON.stringify(events)).not.toMatch(/Zebra|Ada/);
  });

  test('what docs/events.md says, each event by its schema', async () => {
    expect([...schemas.keys()].sort()).toEqual([...busEventNames].sort());
    const events = await told();
    expect([...new Set(namesOf(events))]).toEqual([...busEventNames].sort());
    for (const { detail, time, 'detail-type': name } of events) {
      const validate = schemas.get(name);
      expect([name, validate?.(detail), validate?.errors]).toEqual([name, true, null]);
      expect(Date.parse(time)).toBe(Math.trunc(Date.parse(String(detail.time)) / 1000) * 1000);
    }
    const [first] = events;
    const withName = { ...first?.detail, name: 'Zebra' };
    expect(schemas.get(String(first?.['detail-type']))?.(withName)).toBe(false);
  });
});
