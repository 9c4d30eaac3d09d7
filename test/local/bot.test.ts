import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bareEnvironment } from '../setup/bare-environment.ts';
import { callProgram, type Ended } from '../setup/call-program.ts';

const root = resolve(import.meta.dirname, '../..');
const examples = 'examples/bots';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-bot-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** `npm run bot -- …` without npm: the same program, as a process of its own. */
function runBot(...args: string[]): Promise<Ended> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'infra/local/bot.ts', ...args],
    {
      cwd: root,
      env: { ...bareEnvironment(), PORTICO_DATA_DIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  return new Promise((done) => child.once('close', (code) => done({ code, ...said })));
}

const callBot = (...args: string[]) => callProgram('infra/local/bot.ts', args, { PORTICO_DATA_DIR: folder });

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const handler = (body: string) => `export async function handler(medplum: unknown, event: any) { ${body} }`;

describe('npm run bot', () => {
  test('runs a Bot as a Subscription would', async () => {
    const body =
      "return [event.headers['x-medplum-interaction'], event.input.deletedResource?.id ?? event.input.id]";
    const bot = await file('woken.ts', handler(body));
    const patient = await file('patient.fhir.json', '{"resourceType":"Patient","id":"x"}');
    const answers = [];
    for (const event of ['update', 'delete']) {
      answers.push((await callBot(bot, patient, '--event', event)).stdout);
    }
    expect(answers).toEqual(['["update","x"]', '["delete","x"]']);
    const wrong = await callBot(bot, patient, '--event', 'read');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('create, update or delete') });
    expect((await callBot(bot, '--event', 'create')).code).toBe(2);
  });

  test('runs it for the change of a record, when a Subscription would be woken', async () => {
    const bot = await file('changed.ts', handler("return event.headers['x-medplum-subscription']"));
    const record = (status: string) => JSON.stringify({ resourceType: 'Observation', id: 'o', status });
    const before = await file('before.json', record('preliminary'));
    const after = await file('after.fhir.json', record('final'));
    const other = await file('other.json', '{"resourceType":"Observation","id":"p","status":"final"}');
    const subscription = await file(
      'subscription.json',
      JSON.stringify({
        ...{ resourceType: 'Subscription', id: 'told', status: 'active', reason: 'x' },
        ...{ criteria: 'Observation?status=final', channel: { type: 'rest-hook', endpoint: 'Bot/x' } },
        extension: [
          {
            url: 'https://medplum.com/fhir/StructureDefinition/fhir-path-criteria-expression',
            valueString: "%previous.status = 'preliminary'",
          },
        ],
      }),
    );
    const run = (...args: string[]) => callBot(bot, ...args, '--subscription', subscription);
    const runs = [
      await run(after, '--event', 'update', '--previous', before),
      await run(after, '--event', 'create'),
      await run('--event', 'delete', '--previous', before),
      await callBot(bot, after, '--event', 'update', '--previous', other),
      await callBot(bot, after, '--event', 'update', '--previous', after),
      await callBot(bot, after, '--previous', before),
    ];
    expect(runs[0]).toMatchObject({ code: 0, stdout: '"told"' });
    expect(runs.map(({ code }) => code)).toEqual([0, 2, 2, 2, 2, 2]);
    expect(runs.map(({ stderr }) => stderr.split('\n')[0])).toEqual([
      expect.stringMatching(/^done in/),
      'Not woken: its expression',
      'Not woken: its criteria',
      expect.stringContaining('another record'),
      expect.stringContaining('changes nothing'),
      expect.stringContaining('go with --event'),
    ]);
  });

  test('takes a deleted record for its input', async () => {
    const bot = await file('deleted.ts', handler('return event.input.deletedResource.id'));
    const before = await file('gone.json', '{"resourceType":"Patient","id":"gone"}');
    const ended = await callBot(bot, '--event', 'delete', '--previous', before);
    expect(ended).toMatchObject({ code: 0, stdout: '"gone"' });
  });

  test('prints the answer, and beside it the log and the time', async () => {
    const ended = await runBot(`${examples}/echo.ts`, `${examples}/echo.txt`);
    expect(ended).toMatchObject({ code: 0, stdout: 'Hello, Bot' });
    expect(ended.stderr).toMatch(
      /INFO input of type text\/plain, asked for by Practitioner\/local\ndone in \d+ ms\n$/,
    );
  });

  test.each([
    ['an HL7 message', 'adt-to-patient.hl7', [], /^MSH\|\^~\\&\|WARD\|/],
    ['a form', 'form-webhook.form', [], /^\{"submission":"form-0000-0001",/],
    ['FHIR', 'questionnaire-intake.fhir.json', [], /^\{"resourceType":"QuestionnaireResponse"/],
    ['JSON', 'patient-report.json', [], /^\{"identifier":/],
    [
      'a type that is told',
      'patient-report.json',
      ['--type', 'text/plain; charset=utf-8'],
      /^\{ "identifier":/,
    ],
  ])('takes %s', async (_, input, options, expected) => {
    const { code, stdout } = await callBot(`${examples}/echo.ts`, `${examples}/${input}`, ...options);
    expect(stdout).toMatch(expected);
    expect(code).toBe(0);
  });

  test('gives secrets, and masks them', async () => {
    const bot = await file(
      'secret.ts',
      handler('console.log(event.secrets.KEY); return event.secrets.KEY.valueString.length'),
    );
    const ended = await callBot(bot, '--secret', 'KEY=a long = secret');
    expect(ended).toMatchObject({ code: 0, stdout: '15' });
    expect(ended.stderr).not.toContain('a long = secret');
  });

  test.each([
    [
      'throws',
      handler('\n throw new Error("boo")'),
      [],
      /exception: boo\nat handler \(throws\.ts:2:8\)\nfailed in/,
    ],
    ['loops', handler('for (;;);'), ['--timeout', '1'], /timeout: The Bot did not end within 1000 ms/],
    [
      'hoards',
      handler('const a = []; for (;;) a.push(new Array(1e4).fill(1.5))'),
      ['--memory', '32'],
      /too-costly: .* 32 MiB/,
    ],
    [
      'rewrites',
      `enum A {\n  B,\n}\n\n${handler('\n throw new Error("no " + A.B)')}`,
      [],
      /exception: no 0\nat handler \(rewrites\.ts:6:8\)/,
    ],
    ['exports', 'export const a = 1;', [], /exports no function named handler/],
    ['parses', 'export const a: = 1;', [], /line 1/],
    ['links', 'import fs from "node:fs"; export async function handler() {}', [], /Cannot import 'node:fs'/],
    [
      'calls',
      handler('await (medplum as any).readResource("Patient", "1")'),
      [],
      /medplum is not available.*\n.*\nGive it a service: --project/,
    ],
  ])('a Bot that %s wrongly ends with an error', async (name, code, options, said) => {
    const ended = await callBot(await file(`${name}.ts`, code), ...options);
    expect(ended.stderr).toMatch(said);
    expect(ended.stdout).toBe('');
    expect(ended.code).toBe(name === 'parses' || name === 'links' ? 2 : 1);
  });

  test('gives it all of the time and memory that the service has', async () => {
    const bot = await file('brief.ts', handler('return 1'));
    const most = ['--timeout', '25', '--memory', '512'];
    expect(await callBot(bot, ...most)).toMatchObject({ code: 0, stdout: '1' });
  });

  test.each([
    ['nothing', [], /Name a Bot/],
    ['a missing file', ['nowhere.ts'], /ENOENT/],
    ['no program', ['package.json'], /neither JavaScript nor TypeScript/],
    ['an unknown option', ['--wrong'], /--wrong/],
    ['a timeout beyond the service', [`${examples}/echo.ts`, '--timeout', '26'], /from 1 to 25/],
    ['an input without a type', [`${examples}/echo.ts`, 'LICENSE'], /Content-Type must be one of/],
    [
      'an input that is not what it says',
      [`${examples}/echo.ts`, 'LICENSE', '--type', 'application/json'],
      /could not be parsed/,
    ],
    ['half a service', [`${examples}/echo.ts`, '--token', 'x'], /go together/],
    [
      'a Project without a stack',
      [`${examples}/echo.ts`, '--project', 'Demo Clinic'],
      /start the stack with npm start/,
    ],
  ])('refuses %s', async (_, args, said) => {
    const ended = await callBot(...args);
    expect(ended.stderr).toMatch(said);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('npm run bot beside npm start', () => {
  test('reads and writes in the Project that is named', async () => {
    const { startStack } = await import('../../infra/local/stack.ts');
    const stack = await startStack({ dataDir: folder, port: 0 });
    try {
      const args = [`${examples}/adt-to-patient.ts`, `${examples}/adt-to-patient.hl7`];
      const first = await runBot(...args, '--project', 'Demo Clinic');
      expect(first.stdout).toMatch(/\rMSA\|AA\|ADT-0001\|OK$/);
      expect(first.stderr).toMatch(/INFO created Patient\//);
      const project = stack.demo.projects[0];
      const { requestToken } = await import('../spec/portico.ts');
      const token = await requestToken(stack.baseUrl, project?.clientId ?? '', project?.clientSecret ?? '');
      const second = await callBot(...args, '--base-url', stack.baseUrl, '--token', token);
      expect(second.stderr).toMatch(/INFO updated Patient\//);
      expect((await callBot(...args, '--project', 'Demo Hospital')).stderr).toMatch(/INFO created Patient\//);
      const unknown = await callBot(...args, '--project', 'Nowhere');
      expect(unknown.stderr).toMatch(
        /No Project is called "Nowhere"; there are "Demo Clinic", "Demo Hospital"/,
      );
    } finally {
      await stack.stop();
    }
  });
});
