import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MedplumClient } from '@medplum/core';
import { newGate } from './gate.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import {
  botThat,
  createClient,
  createPolicy,
  execute,
  projectOf,
  recordsOf,
  type TestClient,
} from './running.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let member: TestClient;

beforeAll(async () => {
  portico = await startPortico();
  member = await createClient(portico);
});
afterAll(() => portico.stop());

const prefer = { prefer: 'respond-async' };

function start(bot: string, body?: string, type: string | null = null, token?: string): Promise<Answer> {
  return execute(portico, bot, body, type, { headers: prefer, ...(token ? { token } : {}) });
}

/** Where to look for what comes of an accepted run. */
function statusOf(answer: Answer): string {
  expect([answer.status, answer.text]).toEqual([202, answer.text]);
  return answer.headers.get('content-location') ?? '';
}

/** Asks until the job has ended. */
function ended(answer: Answer, token?: string): Promise<Answer> {
  return endedAt(statusOf(answer), token);
}

function endedAt(path: string, token?: string): Promise<Answer> {
  return until(async () => {
    const found = await portico.api('GET', path, token ? { token } : {});
    return found.status === 202 ? undefined : found;
  }, 'the end of a job');
}

function hasBegun(answer: Answer): Promise<unknown> {
  return until(async () => {
    const { json } = await portico.api('GET', statusOf(answer));
    return json.status === 'accepted' ? undefined : true;
  }, 'a job that runs');
}

describe('an execute that prefers respond-async', () => {
  test('is answered 202 at once, and the job says how far it is and what came of it', async () => {
    const gate = newGate(portico);
    const bot = await botThat(portico, `${gate.pass} return "done"`);
    const answer = await start(bot, 'x', 'text/plain');
    const path = statusOf(answer);
    expect(path).toMatch(new RegExp(`^${portico.baseUrl}/fhir/R4/job/[0-9a-f-]{36}/status$`));
    expect(answer.json).toMatchObject({
      resourceType: 'OperationOutcome',
      id: 'accepted',
      issue: [{ diagnostics: path }],
    });
    const running = await portico.api('GET', path);
    expect([running.status, running.headers.get('retry-after')]).toEqual([202, '1']);
    expect(running.json).toMatchObject({
      resourceType: 'AsyncJob',
      status: expect.stringMatching(/accepted|active/),
    });
    await gate.open();
    const found = await ended(answer);
    expect([found.status, found.json]).toMatchObject([
      200,
      {
        resourceType: 'AsyncJob',
        status: 'completed',
        request: `${portico.baseUrl}/fhir/R4/Bot/${bot}/$execute`,
        requestTime: expect.any(String),
        transactionTime: expect.any(String),
        output: {
          resourceType: 'Parameters',
          parameter: [{ name: 'responseBody', valueString: 'done' }],
        },
      },
    ]);
    expect(found.json.output).toEqual((await portico.api('GET', path)).json.output);
  });

  test.each<[string, string, object]>([
    ['nothing', 'return undefined', { name: 'outcome', resource: expect.objectContaining({ id: 'ok' }) }],
    ['a boolean', 'return false', { name: 'responseBody', valueBoolean: false }],
    ['a number', 'return 1.5', { name: 'responseBody', valueDecimal: 1.5 }],
    ['null', 'return null', { name: 'responseBody', valueString: 'null' }],
    ['JSON', 'return { a: [1] }', { name: 'responseBody', valueString: '{"a":[1]}' }],
    [
      'a resource',
      'return { resourceType: "Patient", gender: "male" }',
      { name: 'responseBody', resource: { resourceType: 'Patient', gender: 'male' } },
    ],
    [
      'a Binary',
      'return { resourceType: "Binary", contentType: "text/csv", data: "YSxi" }',
      { name: 'responseBody', resource: { resourceType: 'Binary', contentType: 'text/csv', data: 'YSxi' } },
    ],
  ])('keeps %s', async (_name, code, parameter) => {
    const found = await ended(await start(await botThat(portico, code)));
    expect([found.json.status, found.json.output.parameter]).toEqual(['completed', [parameter]]);
  });

  test('ends with an error when its Bot fails, whose log administrators are told', async () => {
    const bot = await botThat(portico, 'console.log("said"); throw new Error("no")');
    const found = await ended(await start(bot));
    const theirs = await ended(await start(bot, undefined, null, member.token), member.token);
    for (const { status, json } of [found, theirs]) {
      expect([status, json.status, json.output.parameter[0].name]).toEqual([200, 'error', 'outcome']);
      expect(json.output.parameter[0].resource.issue[0].details.text).toBe('no');
    }
    expect(found.text).toContain('said');
    expect(theirs.text).not.toContain('said');
  });

  test('has its input whole, and its result, however large', async () => {
    const bot = await botThat(portico, 'return [event.input.length, event.contentType, event.input]');
    // What does not deflate: in parts on both ways.
    const input = Array.from({ length: 90_000 }, () => Math.random().toString(36).slice(2)).join('');
    const found = await ended(await start(bot, input, 'text/plain'));
    const [length, type, echoed] = JSON.parse(found.json.output.parameter[0].valueString);
    expect([length, type, echoed === input]).toEqual([input.length, 'text/plain', true]);
  });

  test('has time that a waiting caller has not', async () => {
    const bot = await botThat(portico, 'await new Promise((r) => setTimeout(r, 13_000)); return 1');
    const [sync, found] = await Promise.all([execute(portico, bot), start(bot).then((one) => ended(one))]);
    expect([sync.json.issue[0].code, found.json.status]).toEqual(['timeout', 'completed']);
  });

  test('is refused at once when it could not run', async () => {
    const bot = await botThat(portico, 'return 1');
    expect((await start('nobody')).status).toBe(404);
    expect((await start(bot, '{', 'application/json')).status).toBe(400);
    expect((await start(bot, 'x', 'text/html')).status).toBe(415);
    const outsider = await portico.token(projectOf(portico, 1));
    expect((await start(bot, undefined, null, outsider)).status).toBe(404);
  });

  test('is recorded like every run, under the id of the job', async () => {
    const bot = await botThat(portico, 'return 1');
    const answer = await start(bot);
    await ended(answer);
    const records = await recordsOf(portico, bot);
    expect(records).toHaveLength(1);
    expect(statusOf(answer)).toContain(/"run","valueString":"([^"]+)"/.exec(JSON.stringify(records))?.[1]);
  });

  test('runs once, however often its event arrives', async () => {
    const bot = await botThat(portico, 'await new Promise((r) => setTimeout(r, 500)); return 1');
    const answer = await start(bot);
    const jobId = statusOf(answer).split('/').at(-2);
    const event = JSON.stringify({ project: projectOf(portico, 0).id, jobId });
    const invoke = () =>
      fetch(`${process.env.JOBS_ENDPOINT}/2015-03-31/functions/portico-jobs/invocations`, {
        method: 'POST',
        body: event,
      });
    await Promise.all([invoke(), invoke(), invoke()]);
    expect((await ended(answer)).json.status).toBe('completed');
    await invoke();
    expect(await recordsOf(portico, bot)).toHaveLength(1);
  });

  test('by a Bot goes on when that Bot has ended', async () => {
    const gate = newGate(portico);
    const inner = await botThat(portico, `${gate.pass} return event.requester.reference`);
    const outer = await botThat(
      portico,
      `const answer = await fetch('${portico.baseUrl}/fhir/R4/Bot/${inner}/$execute', { method: 'POST', headers: { prefer: 'respond-async' } });
       return [answer.status, answer.headers.get('content-location')]`,
    );
    const [status, path] = (await execute(portico, outer)).json;
    expect(status).toBe(202);
    await gate.open();
    const found = await endedAt(path);
    expect(found.json.output.parameter[0].valueString).toBe(`Bot/${outer}`);
  });
});

describe('a Bot that runs as its user', () => {
  test('is bound by that user in a job too, and in the jobs that it asks for', async () => {
    const accessPolicy = await createPolicy(portico, [
      { resourceType: 'Bot', interaction: ['read', 'execute'] },
      { resourceType: 'Organization' },
    ]);
    const { token } = await createClient(portico, { accessPolicy });
    const reads = `const read = async (type) => (await fetch('${portico.baseUrl}/fhir/R4/' + type + '?_count=1')).status;
      const seen = [await read('Organization'), await read('Patient'), await read('AccessPolicy')];`;
    const inner = await botThat(portico, `${reads} return seen`, { runAsUser: true });
    const outer = await botThat(
      portico,
      `${reads} const answer = await fetch('${portico.baseUrl}/fhir/R4/Bot/${inner}/$execute', { method: 'POST', headers: { prefer: 'respond-async' } });
       return [...seen, answer.headers.get('content-location')]`,
      { runAsUser: true },
    );
    const found = await ended(await start(outer, undefined, null, token), token);
    const [organizations, patients, policies, path] = JSON.parse(found.json.output.parameter[0].valueString);
    expect([organizations, patients, policies]).toEqual([200, 403, 403]);
    // Asked for by the Bot: not its user's, but an administrator sees it.
    expect((await portico.api('GET', path, { token })).status).toBe(404);
    const asked = await endedAt(path);
    expect(asked.json.output.parameter[0].valueString).toBe('[200,403,403]');
    expect((await portico.api('GET', path, { token })).status).toBe(404);
  });
});

describe('a job', () => {
  test('is seen by who asked for it, and by administrators', async () => {
    const bot = await botThat(portico, 'return "secret"');
    const answer = await start(bot, undefined, null, member.token);
    expect((await ended(answer, member.token)).json.status).toBe('completed');
    expect((await portico.api('GET', statusOf(answer))).status).toBe(200);
    const others = [(await createClient(portico)).token, await portico.token(projectOf(portico, 1))];
    for (const token of others) {
      for (const method of ['GET', 'DELETE']) {
        expect((await portico.api(method, statusOf(answer), { token })).status).toBe(404);
      }
    }
    expect((await portico.api('GET', statusOf(answer), { token: null })).status).toBe(401);
    for (const id of ['nobody', '__proto__', 'a%2Fb'])
      expect((await portico.api('GET', `fhir/R4/job/${id}/status`)).status).toBe(404);
  });

  test('is stopped while it runs, by who may, with the runs that it waits for; its record says by whom', async () => {
    const inner = await botThat(portico, 'for (;;) await new Promise((r) => setTimeout(r, 5));');
    const outer = await botThat(
      portico,
      `return (await fetch('${portico.baseUrl}/fhir/R4/Bot/${inner}/$execute', { method: 'POST' })).status`,
    );
    const answer = await start(outer, undefined, null, member.token);
    await hasBegun(answer);
    for (const token of [(await createClient(portico)).token, await portico.token(projectOf(portico, 1))]) {
      expect((await portico.api('DELETE', statusOf(answer), { token })).status).toBe(404);
    }
    expect((await portico.api('DELETE', statusOf(answer))).status).toBe(202);
    expect((await portico.api('DELETE', statusOf(answer), { token: member.token })).status).toBe(202);
    const found = (await ended(answer)).json;
    expect([found.status, found.output.parameter[0].resource.issue[0]]).toMatchObject([
      'cancelled',
      { code: 'processing', details: { text: 'The run was cancelled' } },
    ]);
    for (const bot of [outer, inner]) {
      const records = await until(async () => {
        const found = await recordsOf(portico, bot);
        return found.length > 0 ? found : undefined;
      }, `the record of Bot/${bot}`);
      expect(records).toHaveLength(1);
      expect(JSON.stringify(records)).toMatch(
        new RegExp(
          `"cancelled".*"cancelledBy","valueString":"ClientApplication/${projectOf(portico, 0).clientId}`,
        ),
      );
    }
    expect((await portico.api('DELETE', statusOf(answer))).status).toBe(202);
    expect((await ended(answer)).json).toEqual(found);
  });

  test('that ends before it could be stopped is completed, and stays so', async () => {
    // A run is first asked whether it was cancelled when it has taken a second.
    const bot = await botThat(portico, 'await new Promise((r) => setTimeout(r, 300)); return 1');
    const answer = await start(bot);
    await hasBegun(answer);
    expect((await portico.api('DELETE', statusOf(answer))).status).toBe(202);
    expect((await ended(answer)).json.status).toBe('completed');
  });
});

describe('a run with an X-Run-Key', () => {
  const loops = 'for (;;);';
  const cancel = (key: string, token?: string) =>
    portico.api('DELETE', `fhir/R4/run/${key}`, token ? { token } : {});

  test('is stopped by its caller while they wait, in the middle of a loop', async () => {
    const bot = await botThat(portico, loops, { timeout: 25 });
    const key = crypto.randomUUID();
    const waiting = execute(portico, bot, undefined, null, { headers: { 'x-run-key': key } });
    expect([(await cancel(key)).status, (await cancel(key)).status]).toEqual([202, 202]);
    const { status, json } = await waiting;
    expect([status, json.issue[0].code, json.issue[0].details.text]).toEqual([
      400,
      'processing',
      'The run was cancelled',
    ]);
    expect(JSON.stringify(await recordsOf(portico, bot))).toContain('cancelledBy');
  });

  test('is not stopped by the same key of somebody else, nor read by anybody', async () => {
    const bot = await botThat(portico, 'await new Promise((r) => setTimeout(r, 2500)); return event.headers');
    const key = crypto.randomUUID();
    const waiting = execute(portico, bot, undefined, null, { headers: { 'x-run-key': key } });
    for (const token of [member.token, await portico.token(projectOf(portico, 1))]) {
      expect((await cancel(key, token)).status).toBe(202);
    }
    expect((await portico.api('GET', `fhir/R4/run/${key}/status`)).status).toBe(404);
    expect((await waiting).status).toBe(200);
  });

  test('is refused when the key is none', async () => {
    const bot = await botThat(portico, 'return 1');
    const answer = await execute(portico, bot, undefined, null, { headers: { 'x-run-key': 'a b' } });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['X-Run-Key']]);
    expect((await cancel('no')).status).toBe(404);
  });
});

test('the unmodified MedplumClient polls until it has the job', async () => {
  const { clientId, clientSecret } = projectOf(portico, 0);
  const medplum = new MedplumClient({ baseUrl: portico.baseUrl, cacheTime: 0 });
  await medplum.startClientLogin(clientId, clientSecret);
  const bot = await botThat(portico, 'return event.input.n * 2');
  const job = await medplum.executeBot(bot, { n: 21 }, 'application/json', {
    headers: { Prefer: 'respond-async' },
    pollStatusOnAccepted: true,
    pollStatusPeriod: 100,
  });
  expect(job).toMatchObject({ resourceType: 'AsyncJob', status: 'completed' });
  expect(job.output.parameter).toEqual([{ name: 'responseBody', valueDecimal: 42 }]);
});
