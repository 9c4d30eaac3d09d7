import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import { derivedKey } from '../../shared/carry/keys/key-ring.ts';
import { openKeyFile } from '../../shared/carry/keys/signing-keys.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { mintRunToken } from '../../shared/identity/gate/access-token.ts';
import { ringOf } from '../setup/key-rings.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, change, execute, membershipOf, projectOf, recordsOf } from './running.ts';
import { until } from './subscribing.ts';

jest.setTimeout(120_000);

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const json = 'application/json';

/** A Bot that makes the calls of its input with its own token, and answers their statuses. */
const caller = () =>
  botThat(
    portico,
    `return Promise.all(event.input.map(async ([method, path, body]) => {
       const answer = await fetch('${portico.baseUrl}/' + path, { method, headers: { 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
       return [method, path, answer.status];
     }));`,
    { timeout: 25 },
  );

/** The records of a Bot's runs once there are so many, and none has been added for five seconds. */
async function calmRecords(bot: string, least: number): Promise<Resource[]> {
  let records = await until(async () => {
    const found = await recordsOf(portico, bot);
    return found.length >= least ? found : undefined;
  }, `${least} runs of Bot/${bot}`);
  for (let calm = 0; calm < 10; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = await recordsOf(portico, bot);
    calm = now.length === records.length ? calm + 1 : 0;
    records = now;
  }
  return records;
}

async function setTreeRuns(most: number): Promise<void> {
  const project = projectOf(portico, 0).id;
  await portico.local.store.update({
    Key: keys.resource(project, 'Project', project),
    UpdateExpression: 'SET treeRuns = :most',
    ExpressionAttributeValues: { ':most': most },
  });
}

describe('a Bot', () => {
  test('administers nothing: neither code nor secrets, hosts, logs, members, itself least of all', async () => {
    const here = projectOf(portico, 0).id;
    const victim = await botThat(portico, 'return 1');
    const bot = await caller();
    const calls = [victim, bot].flatMap((id) => [
      ['POST', `fhir/R4/Bot/${id}/$deploy`, { code: 'exports.handler = () => "evil"' }],
      ['POST', `fhir/R4/Bot/${id}/$rollback`, { version: '0'.repeat(64) }],
      ['GET', `fhir/R4/Bot/${id}/$versions`],
      ['GET', `fhir/R4/Bot/${id}/$logs`],
      ['PUT', `fhir/R4/Bot/${id}`, { resourceType: 'Bot', id, name: 'evil' }],
      ['DELETE', `fhir/R4/Bot/${id}`],
      ['GET', `admin/projects/${here}/bot/${id}/secrets`],
      ['POST', `admin/projects/${here}/bot/${id}/secrets`, []],
    ]);
    const more = [
      ['GET', `admin/projects/${here}/secrets`],
      ['POST', `admin/projects/${here}/secrets`, []],
      ['POST', `admin/projects/${here}/fetch-hosts`, {}],
      ['GET', `admin/projects/${here}/members`],
      ['POST', `admin/projects/${here}/client`, { name: 'evil', admin: true }],
      ['POST', 'fhir/R4/AccessPolicy', { resourceType: 'AccessPolicy' }],
      ['GET', 'fhir/R4/AuditEvent'],
      ['GET', 'fhir/R4/ProjectMembership'],
    ];
    const all = [...calls, ...more];
    const answer = await execute(portico, bot, JSON.stringify(all), json);
    expect(answer.status).toBe(200);
    expect(answer.json).toHaveLength(all.length);
    for (const [method, path, status] of answer.json) {
      expect([method, path, [401, 403].includes(status)]).toEqual([method, path, true]);
    }
    expect((await execute(portico, victim)).text).toBe('1');
  });

  test("is not given another Bot's secrets, however it asks", async () => {
    const here = projectOf(portico, 0).id;
    const victim = await botThat(portico, 'return Object.keys(event.secrets)');
    const secrets = [{ name: 'KEY', valueString: 'Quokka-in-the-vault' }];
    await portico.api('POST', `admin/projects/${here}/bot/${victim}/secrets`, { body: secrets });
    const thief = await botThat(
      portico,
      `const called = await medplum.executeBot('${victim}', event, 'application/json');
       const read = await medplum.readResource('Bot', '${victim}').then((bot) => bot, (error) => error.message);
       return [event.secrets, called, read];`,
    );
    const answer = await execute(portico, thief, '{}', json);
    expect(answer.json.slice(0, 2)).toEqual([{}, ['KEY']]);
    expect(answer.text).not.toContain('Quokka');
  });

  test('sees and runs nothing of another Project, by its own token', async () => {
    const other = projectOf(portico, 1);
    const theirs = await botThat(portico, 'return "theirs"', { identifier: [{ value: 'theirs' }] }, other);
    const bot = await caller();
    const calls = [
      ['POST', `fhir/R4/Bot/${theirs}/$execute`],
      ['POST', 'fhir/R4/Bot/$execute?identifier=|theirs'],
      ['GET', `fhir/R4/Bot/${theirs}`],
      ['GET', `admin/projects/${other.id}`],
      ['POST', `admin/projects/${other.id}/bot`, { name: 'evil' }],
    ];
    const answer = await execute(portico, bot, JSON.stringify(calls), json);
    const statuses = answer.json.map(([, , status]: [string, string, number]) => status);
    expect(statuses).toEqual([404, 404, 404, 403, 403]);
  });

  test('and another that call each other stop at the depth limit, with a 4xx', async () => {
    const slow = { timeout: 25 };
    const [a, b] = [await botThat(portico, 'return 0', slow), await botThat(portico, 'return 0', slow)];
    for (const [own, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const code = `exports.handler = (medplum) => medplum.executeBot('${other}', {}, 'application/json')`;
      const answer = await portico.api('POST', `fhir/R4/Bot/${own}/$deploy`, { body: { code } });
      expect(answer.status).toBe(200);
    }
    const answer = await execute(portico, a);
    expect([answer.status, /deep/.test(answer.text)]).toEqual([400, true]);
    expect([...(await recordsOf(portico, a)), ...(await recordsOf(portico, b))]).toHaveLength(8);
  });

  test('that has Bots run without end by jobs stops at the depth limit too', async () => {
    const bot = await botThat(portico, 'return 0');
    const code = `exports.handler = async () => (await fetch('${portico.baseUrl}/fhir/R4/Bot/${bot}/$execute', { method: 'POST', headers: { prefer: 'respond-async' } })).status`;
    await portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, { body: { code } });
    expect((await execute(portico, bot)).text).toBe('202');
    expect(await calmRecords(bot, 8)).toHaveLength(8);
  });
});

describe('a run and all that follow from it', () => {
  test('start no more runs than they may, waiting or not, and end', async () => {
    const bot = await botThat(portico, 'return 0', { timeout: 25 });
    const url = `${portico.baseUrl}/fhir/R4/Bot/${bot}/$execute`;
    const code = `exports.handler = async () => {
      const start = (prefer) => fetch('${url}', { method: 'POST', headers: { prefer } }).then((answer) => answer.json());
      const started = await Promise.all([start('respond-async'), start('respond-async'), start('')]);
      console.log(JSON.stringify(started.map((one) => one?.issue?.[0]?.code)));
      return started.map((one) => one?.issue?.[0]?.code);
    }`;
    await portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, { body: { code } });
    await setTreeRuns(12);
    expect((await execute(portico, bot)).status).toBe(200);
    const records = await calmRecords(bot, 5);
    await setTreeRuns(64);
    expect(records.length).toBeLessThanOrEqual(13);
    const trees = await portico.local.scan('#RUN-TREE#');
    expect(trees.some(({ started }) => started === 12)).toBe(true);
    const logs = await portico.api('GET', `fhir/R4/Bot/${bot}/$logs?_count=20`);
    expect(logs.text).toContain('too-costly');
  });

  test('end with the run at their root: a nested run has no more time than is left', async () => {
    const inner = await botThat(portico, 'await new Promise((r) => setTimeout(r, 15_000)); return 1', {
      timeout: 25,
    });
    const project = projectOf(portico, 0).id;
    const identity = { project, botId: inner, membershipId: await membershipOf(portico, inner) };
    const { secret } = openKeyFile(join(portico.local.dataDir, 'keys.json'));
    const executeUntil = async (deadlineAtMs: number) => {
      const run = { id: 'parent', root: 'parent', depth: 1, deadlineAtMs };
      const token = await mintRunToken(ringOf(derivedKey(secret, 'run-token')), identity, run);
      return execute(portico, inner, undefined, null, { token });
    };
    let deadlineAtMs = Date.now() + 2_500;
    let answer = await executeUntil(deadlineAtMs);
    // The parent had ended before a slow machine came to it.
    if (answer.status === 401) {
      deadlineAtMs = Date.now() + 10_000;
      answer = await executeUntil(deadlineAtMs);
    }
    expect([answer.status, answer.json.issue[0].code]).toEqual([400, 'timeout']);
    expect(Date.now() - deadlineAtMs).toBeLessThan(10_000);
  });
});

describe('a run', () => {
  test('leaves no token that is good after it', async () => {
    const keeper = await botThat(
      portico,
      `setTimeout(() => fetch('${portico.baseUrl}/fhir/R4/Patient', { method: 'POST', headers: { 'content-type': 'application/fhir+json' }, body: '{"resourceType":"Patient","language":"xx-late"}' }), 300);
       return medplum.getAccessToken()`,
    );
    const answer = await execute(portico, keeper);
    const token = String(answer.json);
    expect((await portico.api('GET', 'fhir/R4/Patient?_count=1', { token })).status).toBe(401);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const left = (await portico.local.scan()).filter(({ content }) => String(content).includes('xx-late'));
    expect(left).toEqual([]);
  });

  test('over its time leaves nothing that writes afterwards', async () => {
    const bot = await botThat(
      portico,
      `for (;;) { await medplum.createResource({ resourceType: 'Basic', language: 'xx-loop', code: { text: 'x' } }) }`,
    );
    await change(portico, 'Bot', bot, { timeout: 1 });
    expect((await execute(portico, bot)).status).toBe(400);
    const count = async () =>
      (await portico.local.scan()).filter(
        ({ sk, content }) => sk === 'HEAD' && String(content).includes('xx-loop'),
      ).length;
    // What was on its way when the time was over may still come to its end; a loop that went on would not.
    let last = -1;
    await until(async () => {
      const now = await count();
      if (now === last) return true;
      last = now;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return undefined;
    }, 'the end of writing');
  });
});
