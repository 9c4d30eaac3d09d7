import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ScheduledEvent } from 'aws-lambda';
import { scheduleActions } from '../../shared/bots/schedule/due.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, change, createClient, membershipOf, projectOf } from './running.ts';
import { put, until } from './subscribing.ts';

let portico: Portico;
beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const schedule = async (bot: string, fields: Record<string, unknown>) => {
  const { json } = await portico.api('GET', `fhir/R4/Bot/${bot}`);
  return put(portico, { ...json, ...fields });
};

/** As if the time of its schedule had come. */
async function tickFor(bot: string, dueAt: string): Promise<void> {
  const project = projectOf(portico, 0).id;
  await portico.local.store.transact(scheduleActions({ project, botId: bot, dueAt }));
  const tick = await portico.local.load('tick');
  await tick({ source: 'aws.events' } as ScheduledEvent);
}

const logsOf = (bot: string, words: string) =>
  until(async () => {
    const { text } = await portico.api('GET', `fhir/R4/Bot/${bot}/$logs`);
    return text.includes(words) ? text : undefined;
  }, words);

test('a Bot with a schedule runs by itself: its input is the Bot, and it is told the time', async () => {
  const bot = await botThat(
    portico,
    `console.log('ran', event.input.resourceType, event.input.id, event.headers['x-portico-scheduled'], event.requester.reference);
     const me = await medplum.createResource({ resourceType: 'Basic', code: { text: 'by schedule' } });
     console.log('wrote', me.meta.author.reference);`,
  );
  const zone = { url: 'urn:portico:extension:timezone', valueCode: 'Europe/Paris' };
  const saved = await schedule(bot, { cronString: '30 7 * * 1-5', extension: [zone] });
  expect(saved.cronString).toBe('30 7 * * 1-5');
  const item = keys.schedule(projectOf(portico, 0).id, bot);
  const { dueAt } = (await portico.local.store.read([item])).get(item) as { dueAt?: string } & object;
  const time = new Date(String(dueAt)).toLocaleTimeString('en-GB', { timeZone: 'Europe/Paris' });
  expect(time).toBe('07:30:00');
  const due = new Date(Date.now() - 60_000).toISOString();
  await tickFor(bot, due);
  const log = await logsOf(bot, 'wrote Bot/');
  expect(log).toContain(`ran Bot ${bot} ${due} Bot/${bot}`);
  expect(log).toContain(`{"name":"scheduled","valueString":"${due}"}`);
});

test('a Bot that is disabled keeps no schedule, and the list of its runs says why', async () => {
  const bot = await botThat(portico, 'return 1');
  await schedule(bot, { cronString: '0 0 * * *' });
  await change(portico, 'ProjectMembership', await membershipOf(portico, bot), { active: false });
  await tickFor(bot, new Date(Date.now() - 60_000).toISOString());
  await logsOf(bot, 'schedule stopped: disabled');
  const item = keys.schedule(projectOf(portico, 0).id, bot);
  expect((await portico.local.store.read([item])).get(item)).toBeUndefined();
});

test('a schedule is refused with its field, and written by administrators only', async () => {
  const bot = await botThat(portico, 'return 1');
  const { json } = await portico.api('GET', `fhir/R4/Bot/${bot}`);
  const save = async (fields: object, token?: string) =>
    portico.api('PUT', `fhir/R4/Bot/${bot}`, {
      body: { ...json, ...fields },
      ...(token === undefined ? {} : { token }),
    });
  const refused = await save({ cronString: '* * * * * *' });
  expect([refused.status, refused.json.issue[0].expression]).toEqual([422, ['cronString']]);
  const { token } = await createClient(portico);
  expect((await save({ cronString: '0 0 * * *' }, token)).status).toBe(403);
});
