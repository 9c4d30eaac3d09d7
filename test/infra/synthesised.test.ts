import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readAssembly, type SynthesisedFunction, samName } from '../../infra/local/assembly/assembly.ts';
import { startEnvironment } from '../../infra/local/assembly/environment.ts';
import type { SamTemplate } from '../../infra/local/sam.ts';
import { type Stack, startStack } from '../../infra/local/stack.ts';
import { permissions } from '../../infra/permissions.ts';
import { isLong } from '../setup/long.ts';
import { root, synthesise } from './synthesised.ts';

/** A few that between them call most functions; all of them in the long form, and where specs run so anyway. */
const shortSpecs = ['execute', 'invite', 'jobs', 'schedules'];
const secondsForAll = 1_800;

let app: Awaited<ReturnType<typeof synthesise>>;
let functions: SynthesisedFunction[];

beforeAll(async () => {
  app = await synthesise();
  functions = await readAssembly(app.folder);
});
afterAll(() => app?.remove());

/** The output of a program of the repository, with its exit code. */
function run(
  args: string[],
  env: Record<string, string | undefined>,
): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: root, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => resolve({ code: Number(error?.code ?? 0), said: `${out}${err}` }),
    );
  });
}

describe('the synthesised app', () => {
  it('has every function, each with the role that permissions.ts gives it', () => {
    expect(new Set(functions.map(({ folder }) => folder))).toEqual(
      new Set([...Object.keys(permissions), 'invoker']),
    );
    for (const { folder, statements } of functions.filter(({ folder }) => folder !== 'invoker')) {
      const table = permissions[folder as keyof typeof permissions].table.map(
        (action) => `dynamodb:${action}`,
      );
      const allowed = statements.flatMap(({ Action }) => Action);
      expect(table.filter((action) => !allowed.includes(action))).toEqual([]);
    }
  });

  // Where all specs run against the bundles anyway there is nothing to repeat.
  if (process.env.PORTICO_FROM !== undefined) return;
  it(
    isLong ? 'passes the whole HTTP spec' : `passes the HTTP spec of ${shortSpecs.join(', ')}`,
    async () => {
      const files = isLong ? ['test/spec'] : shortSpecs.map((name) => `test/spec/${name}.test.ts`);
      const jest = ['node_modules/.bin/jest', ...files, '--maxWorkers=2', '--ci'];
      const { code, said } = await run(jest, { PORTICO_FROM: app.folder });
      expect({ code, said: code === 0 ? '' : said.slice(-20_000) }).toEqual({ code: 0, said: '' });
    },
    secondsForAll * 1000,
  );
});

describe('outside of the stack', () => {
  let dataDir: string;
  let stack: Stack;
  let file: string;
  let template: SamTemplate;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'portico-sam-'));
    stack = await startStack({ dataDir, port: 0 });
    // Containers are no more here than this machine.
    const { code, said } = await run(['infra/local/sam.ts', '--from', app.folder, '--host', '127.0.0.1'], {
      PORTICO_DATA_DIR: dataDir,
    });
    if (code !== 0) throw new Error(said);
    file = join(dataDir, 'sam/template.json');
    template = JSON.parse(await readFile(file, 'utf8'));
  });
  afterAll(async () => {
    await stack?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** SAM turns what is no text, such as a reference to another stack, into nothing. */
  function resolved(name: string) {
    const { CodeUri, Handler, Timeout, Environment } = template.Resources[name]?.Properties ?? never(name);
    const variables = Object.entries(Environment.Variables as Record<string, unknown>).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.replace('/var/task', resolve(dirname(file), CodeUri)) : '',
    ]);
    return startEnvironment({
      ...{ name, folder: resolve(dirname(file), CodeUri), handler: Handler, timeoutMs: Timeout * 1000 },
      variables: Object.fromEntries(variables),
    });
  }

  it('no variable of the template resolves to nothing', () => {
    for (const [name, { Properties }] of Object.entries(template.Resources)) {
      const said = functions.find(({ folder }) => samName(folder) === name)?.variables ?? {};
      const empty = Object.entries(Properties.Environment.Variables)
        .filter(([variable, value]) => typeof value !== 'string' || (value === '' && said[variable] !== ''))
        .map(([variable]) => variable);
      expect({ name, empty }).toEqual({ name, empty: [] });
    }
    expect(Object.keys(template.Resources)).toHaveLength(Object.keys(permissions).length + 1);
  });

  it('an address and two Projects are enough for the HTTP spec', async () => {
    const { code, said } = await run(
      ['node_modules/.bin/jest', 'test/spec/rotate-secret.test.ts', '--ci', '-i'],
      {
        BASE_URL: stack.baseUrl,
        PORTICO_DEMO: join(dataDir, 'demo.json'),
      },
    );
    expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
    expect(said).toMatch(/Tests: .*skipped, .*passed/);
  });

  it.each([
    ['invite', 'Invite', { statusCode: 200 }],
    ['login', 'Login', { statusCode: 200 }],
    [
      'invoker',
      'Invoker',
      { outcome: { kind: 'returned', value: { type: 'string', text: 'Hello, Alice' } } },
    ],
  ])('%s answers the sample of npm run invoke as SAM would start it', async (name, id, expected) => {
    const sample = await run(['infra/local/invoke.ts', name, '--sample'], { PORTICO_DATA_DIR: dataDir });
    expect(sample.code).toBe(0);
    const event = JSON.parse(sample.said.slice(sample.said.indexOf('{\n')));
    const environment = resolved(id);
    expect(await environment.invoke(event)).toMatchObject(expected);
    await environment.stop();
  });
});

function never(name: string): never {
  throw new Error(`The template has no ${name}`);
}
