import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import {
  botThat,
  createBot,
  createClient,
  execute,
  projectOf,
  recordsOf,
  type TestClient,
} from './running.ts';
import { put, subscribe, until } from './subscribing.ts';

let portico: Portico;
let member: TestClient;
/** A Bot that nobody runs. */
let silent: string;

beforeAll(async () => {
  portico = await startPortico();
  member = await createClient(portico);
  silent = await createBot(portico);
});
afterAll(() => portico.stop());

interface Part {
  name: string;
  part?: Part[];
  [value: string]: unknown;
}

interface Execution {
  [name: string]: unknown;
  log: { level: string; text: string }[];
}

const plain = ({ name, part: _, ...value }: Part): [string, unknown] => [name, Object.values(value)[0]];

/** The executions of an answer as plain objects. */
function executionsIn({ json }: Answer): Execution[] {
  return (json.parameter as Part[])
    .filter(({ name }) => name === 'execution')
    .map(({ part = [] }) => {
      const entries = part.find(({ name }) => name === 'log')?.part ?? [];
      const log = entries.map((entry) => Object.fromEntries((entry.part ?? []).map(plain)));
      return { ...Object.fromEntries(part.map(plain)), log } as Execution;
    });
}

function logs(bot: string, query = '', token?: string): Promise<Answer> {
  return portico.api('GET', `fhir/R4/Bot/${bot}/$logs${query}`, token ? { token } : {});
}

/** At once: nothing has to be read or written after the answer. */
async function listed(bot: string, count: number): Promise<Execution[]> {
  const found = executionsIn(await logs(bot));
  expect(found).toHaveLength(count);
  return found;
}

const talking = () =>
  botThat(
    portico,
    'console.log("got", event.input); if (event.input === "bad") throw new Error("no"); return 1',
  );

describe('what has failed', () => {
  const failures = async (query = '', token?: string) => {
    const path = `admin/projects/${projectOf(portico, 0).id}/failures${query}`;
    return portico.api('GET', path, token ? { token } : {});
  };

  test('are Bots and Subscriptions of the last day, by their latest runs and deliveries', async () => {
    const [good, bad] = [
      await talking(),
      await botThat(portico, 'throw new Error("no")', { name: 'Bad one' }),
    ];
    await execute(portico, good, 'fine');
    await execute(portico, bad, 'x');
    await execute(portico, bad, 'y');
    const fails = await subscribe(portico, `Bot/${bad}`, 'Basic?identifier=urn:failing|1');
    await subscribe(portico, `Bot/${good}`, 'Basic?identifier=urn:failing|1');
    const identifier = [{ system: 'urn:failing', value: '1' }];
    await put(portico, { resourceType: 'Basic', code: { text: 'x' }, identifier });
    const answer = await until(async () => {
      const { json } = await failures();
      return json.subscriptions.length > 0 && json.bots[0].looked > 2 ? json : undefined;
    }, 'a delivery that failed');
    expect(answer).toMatchObject({
      complete: true,
      since: expect.any(String),
      bots: [{ bot: { reference: `Bot/${bad}`, display: 'Bad one' }, last: expect.any(String) }],
      subscriptions: [
        {
          subscription: { reference: `Subscription/${fails}`, display: 'To be told' },
          ...{ status: 'active', endpoint: `Bot/${bad}`, looked: 1, failed: 1 },
        },
      ],
    });
    expect(answer.bots[0].failed).toBe(answer.bots[0].looked);
    expect(answer.bots[0].latest).toBeUndefined();
    const ranAt = (bot: string) =>
      answer.ran.find((one: { bot: { reference: string } }) => one.bot.reference === `Bot/${bot}`)?.at;
    expect(ranAt(bad)).toBe(answer.bots[0].last);
    expect((await recordsOf(portico, good)).map(({ recorded }) => recorded)).toContain(ranAt(good));
  });

  test('is for administrators of the Project', async () => {
    expect((await failures('', member.token)).status).toBe(403);
    expect((await failures('', await portico.token(projectOf(portico, 1)))).status).toBe(403);
    expect((await failures('?date=ge2020')).status).toBe(400);
  });
});

describe('the figures of a Bot', () => {
  const figures = async (bot: string, query = '', token?: string) => {
    const answer = await portico.api('GET', `fhir/R4/Bot/${bot}/$figures${query}`, token ? { token } : {});
    return { status: answer.status, ...Object.fromEntries((answer.json.parameter ?? []).map(plain)) };
  };

  test('are runs, failures and times of the last day', async () => {
    const bot = await talking();
    expect(await figures(bot)).toEqual({
      ...{ status: 200, since: expect.any(String), complete: true, runs: 0, failed: 0 },
    });
    for (const input of ['good', 'good', 'bad', 'good']) await execute(portico, bot, input);
    const times = (await listed(bot, 4)).map(({ durationMs }) => Number(durationMs)).sort((a, b) => a - b);
    expect(await figures(bot)).toMatchObject({ runs: 4, failed: 1, p50Ms: times[1], p95Ms: times[3] });
  });

  test('are for administrators of its Project', async () => {
    const bot = await talking();
    expect((await figures(bot, '', member.token)).status).toBe(403);
    expect((await figures(bot, '', await portico.token(projectOf(portico, 1)))).status).toBe(404);
    expect((await figures(bot, '?date=ge2020')).status).toBe(400);
  });
});

describe('the executions of a Bot', () => {
  test('are narrowed to those of one trace, page by page', async () => {
    const bot = await talking();
    const trace = randomUUID();
    for (const headers of [{ 'x-trace-id': trace }, {}, { 'x-trace-id': trace }]) {
      await execute(portico, bot, 'good', 'text/plain', { headers });
    }
    const found = executionsIn(await logs(bot, `?trace=${trace}`));
    expect(found.map((one) => one.trace)).toEqual([trace, trace]);
    expect(found[0]?.log).toEqual([expect.objectContaining({ text: 'got good' })]);
    const first = await logs(bot, `?trace=${trace}&_count=1`);
    const next = (first.json.parameter as Part[]).find(({ name }) => name === 'next')?.valueUrl;
    const { search } = new URL(String(next));
    expect(executionsIn(await logs(bot, search)).map(({ id }) => id)).toEqual([found[1]?.id]);
    // A page of one trace is no page of another.
    expect((await logs(bot, search.replace(trace, randomUUID()))).status).toBe(400);
    expect(executionsIn(await logs(bot, `?trace=${randomUUID()}`))).toEqual([]);
    // What else is said of a run is no trace of it.
    for (const other of [found[0]?.outcome, found[0]?.version])
      expect([other, executionsIn(await logs(bot, `?trace=${other}`))]).toEqual([expect.any(String), []]);
  });

  test('are listed newest first with their whole log', async () => {
    const bot = await talking();
    await execute(portico, bot, 'good');
    await execute(portico, bot, 'bad', 'text/plain', { token: member.token });
    const [second, first] = await listed(bot, 2);
    expect(first).toMatchObject({
      id: expect.any(String),
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      requester: { reference: `ClientApplication/${projectOf(portico, 0).clientId}` },
      version: expect.stringMatching(/^[0-9a-f]{64}$/),
      outcome: 'returned',
      inputType: 'text',
      inputBytes: '4',
      logTruncated: false,
      log: [{ level: 'info', text: 'got good' }],
    });
    expect(second).toMatchObject({
      requester: { reference: `ClientApplication/${member.id}` },
      outcome: 'threw',
      log: [
        { level: 'info', text: 'got bad' },
        { level: 'error', text: expect.stringMatching(/^Error: no\nat handler \(bot\.mjs:1:\d+\)/) },
      ],
    });
  });

  test('can be narrowed by outcome, time and requester', async () => {
    const bot = await talking();
    await execute(portico, bot, 'good');
    await execute(portico, bot, 'bad', 'text/plain', { token: member.token });
    const [second, first] = await listed(bot, 2);
    const inputs = async (query: string) =>
      executionsIn(await logs(bot, query)).map(({ log }) => log[0]?.text);
    expect(await inputs('?outcome=success')).toEqual(['got good']);
    expect(await inputs('?outcome=failure')).toEqual(['got bad']);
    expect(await inputs('?outcome=unknown')).toEqual([]);
    expect(await inputs(`?requester=ClientApplication/${member.id}`)).toEqual(['got bad']);
    expect(await inputs(`?date=ge${second?.time}`)).toEqual(['got bad']);
    expect(await inputs(`?date=le${first?.time}`)).toEqual(['got good']);
    expect(await inputs(`?date=ge${first?.time}&date=le${second?.time}`)).toEqual(['got bad', 'got good']);
    expect(await inputs('?date=lt2020')).toEqual([]);
    expect(await inputs('?date=ge2021&date=lt2020')).toEqual([]);
  });

  test('come in pages, also when they are narrowed', async () => {
    const bot = await talking();
    for (const input of ['1', 'bad', '2', 'bad', '3', '4', '5']) await execute(portico, bot, input);
    await listed(bot, 7);
    const texts: unknown[] = [];
    let path: string | undefined = `fhir/R4/Bot/${bot}/$logs?_count=2&outcome=success`;
    while (path) {
      const answer: Answer = await portico.api('GET', path);
      const page = executionsIn(answer);
      expect(page.length).toBeLessThanOrEqual(2);
      texts.push(...page.map(({ log }) => log[0]?.text));
      path = (answer.json.parameter as Part[]).find(({ name }) => name === 'next')?.valueUrl as
        | string
        | undefined;
    }
    expect(texts).toEqual(['got 5', 'got 4', 'got 3', 'got 2', 'got 1']);
  });

  test('have their log to its limit, and pages that an answer can hold', async () => {
    const bot = await botThat(
      portico,
      'for (let i = 0; i < 40; i++) console.log(String(i).padEnd(9000, "\\u20ac")); return 1',
    );
    // Three bytes a character: more than Lambda answers, though fewer characters than that.
    for (let i = 0; i < 20; i++) await execute(portico, bot);
    const seen: Execution[] = [];
    for (let path: string | undefined = `fhir/R4/Bot/${bot}/$logs?_count=20`; path; ) {
      const page: Answer = await portico.api('GET', path);
      expect(page.status).toBe(200);
      seen.push(...executionsIn(page));
      path = (page.json.parameter as Part[]).find(({ name }) => name === 'next')?.valueUrl as
        | string
        | undefined;
    }
    expect(seen).toHaveLength(20);
    const [newest] = seen;
    expect(newest?.logTruncated).toBe(true);
    expect(JSON.stringify(newest?.log).length).toBeGreaterThan(50_000);
  });

  test.each([
    ['?outcome=odd'],
    ['?date=yesterday'],
    ['?nothing=1'],
    ['?_count=0'],
    ['?_cursor=x'],
    ['?requester='],
  ])('refuse %s', async (query) => {
    const { status } = await logs(silent, query);
    expect(status).toBeLessThan(500);
    if (query !== '?requester=') expect(status).toBe(400);
  });

  test('are for administrators of the Project only', async () => {
    const bot = await talking();
    await execute(portico, bot, 'Zebra');
    await listed(bot, 1);
    expect((await logs(bot, '', member.token)).status).toBe(403);
    const theirs = await logs(bot, '', await portico.token(projectOf(portico, 1)));
    expect([theirs.status, theirs.text.includes('Zebra')]).toEqual([404, false]);
  });

  test('are AuditEvents that a search finds, without the log', async () => {
    const bot = await talking();
    await execute(portico, bot, 'Zebra');
    const [execution] = await listed(bot, 1);
    const found = await portico.api('GET', `fhir/R4/AuditEvent?entity=Bot/${bot}&subtype=execute`);
    expect(found.json.entry.map(({ resource }: { resource: { id: string } }) => resource.id)).toEqual([
      execution?.id,
    ]);
    expect(found.text).not.toContain('Zebra');
  });

  test('are read by their id, and of their Project only', async () => {
    const bot = await talking();
    await execute(portico, bot, 'Zebra');
    const [execution] = await listed(bot, 1);
    const path = `fhir/R4/AuditEvent/${execution?.id}`;
    const read = await portico.api('GET', path);
    expect(read.json).toMatchObject({ id: execution?.id, recorded: execution?.time, action: 'E' });
    expect((await portico.api('GET', `${path}/_history/${execution?.id}`)).status).toBe(200);
    const theirs = await portico.api('GET', path, { token: await portico.token(projectOf(portico, 1)) });
    expect([theirs.status, theirs.text.includes('Zebra')]).toEqual([404, false]);
  });

  test('are forgotten when the Project says so, and what leads to them', async () => {
    const bot = await talking();
    await execute(portico, bot, 'x');
    const items = await portico.local.scan(`#RUNS#${bot}#`);
    const notes = (await portico.local.scan('#RUN-DAYS')).filter(({ sk }) => sk.endsWith(`#${bot}`));
    expect([items.length, notes.length]).toEqual([1, 1]);
    const daysOf = (item: Item | undefined) =>
      Math.round((Number(item?.ttl) * 1000 - Date.now()) / 86_400_000);
    expect([daysOf(items[0]), daysOf(notes[0])]).toEqual([365, 366]);
  });
});

describe('a trace id', () => {
  test.each([
    ['X-Trace-Id', (id: string) => ({ 'x-trace-id': id })],
    ['traceparent', (id: string) => ({ traceparent: `00-${id.replaceAll('-', '')}-00f067aa0ba902b7-01` })],
  ])('sent as %s is that of the run, and of the runs that its Bot calls', async (_name, header) => {
    const inner = await botThat(portico, 'return event.traceId');
    const outer = await botThat(
      portico,
      `return [event.traceId, await medplum.executeBot('${inner}', {}, 'application/json')]`,
    );
    const headers = header(randomUUID());
    const answer = await execute(portico, outer, undefined, null, { headers });
    const sent = Object.values(headers)[0] ?? '';
    const id = answer.headers.get('x-trace-id') ?? '';
    expect(sent).toContain(id);
    expect(answer.json).toEqual([id, id]);
    for (const bot of [inner, outer]) {
      expect(JSON.stringify(await recordsOf(portico, bot))).toContain(`"${id}"`);
    }
  });

  test('of a Bot’s own making does not replace it', async () => {
    const inner = await botThat(portico, 'return event.traceId');
    const outer = await botThat(
      portico,
      `const answer = await fetch('${portico.baseUrl}/fhir/R4/Bot/${inner}/$execute', { method: 'POST', headers: { 'x-trace-id': '${randomUUID()}' } });
       return await answer.json()`,
    );
    const answer = await execute(portico, outer);
    expect(answer.json).toBe(answer.headers.get('x-trace-id'));
  });
});
