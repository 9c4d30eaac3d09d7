import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';

/** What jest gives a runner of test files, as far as it is used here. */
interface Environment {
  /** `stackLog`: the file in which a stack in another process logs. */
  global: { console: Console; stackLog?: string };
  handleTestEvent?: (event: TestEvent) => void;
}

interface TestEvent {
  name: string;
  test?: { name: string; errors: unknown[]; mode: unknown; status?: unknown };
}

interface FileResult {
  numFailingTests: number;
  testExecError?: unknown;
}

type Runner = (
  ...given: [config: unknown, project: unknown, environment: Environment, ...rest: unknown[]]
) => Promise<FileResult>;

const { default: runInCircus }: { default: Runner } = createRequire(import.meta.url)('jest-circus/runner');
const quickHashing: { isOn: boolean } = createRequire(import.meta.url)('./quick-hashing.cjs');

/** Files that make many people, of whose passwords nothing is said there. The long form hashes as production does. */
const hashesQuickly = /\/test\/(?:faults|linearizability|resources|spec|storage)\/(?!spraying)/;

/** Of a test that fails, the last ones. */
const mostLines = 200;

/**
 * Runs a test file as jest does, and keeps back the log lines of the functions and the notices of
 * oidc-provider: those of a test that fails are printed, together with those of the hooks before it. What a
 * test itself writes is printed at once.
 */
const runQuietly: Runner = async (config, project, environment, runtime, path, ...rest) => {
  quickHashing.isOn = process.env.PORTICO_LONG !== '1' && hashesQuickly.test(String(path));
  const kept: string[] = [];
  const write = process.stdout.write;
  const log = tailOf(() => environment.global.stackLog);
  const print = (name: string) => {
    const lines = [...kept.splice(0), ...log.read()];
    if (lines.length === 0) return;
    const shown = lines.slice(-mostLines);
    const count = shown.length < lines.length ? `last ${shown.length} of ${lines.length} ` : '';
    write.call(process.stdout, `${count}log lines of "${name}":\n${shown.join('')}`);
  };
  process.stdout.write = ((chunk: unknown, ...more: []) => {
    if (!/^\{"(level|_aws)":/.test(String(chunk)))
      return write.call(process.stdout, chunk as string, ...more);
    kept.push(String(chunk));
    return true;
  }) as typeof write;
  keepNotices(environment.global.console, kept);
  // Within jest's sandbox each file would load it anew, which takes more than a second.
  Object.defineProperty(environment.global, 'playwright', {
    get: () => createRequire(import.meta.url)('playwright-core'),
  });
  environment.handleTestEvent = ({ name, test }) => {
    if (name !== 'test_done') return;
    if (test && isLaptopOnly(test.errors)) Object.assign(test, { errors: [], mode: 'skip', status: 'skip' });
    if (test?.errors.length) print(test.name);
    kept.length = 0;
    log.skip();
  };
  try {
    const result = await runInCircus(config, project, environment, runtime, path, ...rest);
    if (result.numFailingTests > 0 || result.testExecError) print('the file');
    return result;
  } catch (error) {
    print('the file');
    throw error;
  } finally {
    process.stdout.write = write;
  }
};

/**
 * A spec that looks into the stack has nothing to look into on a deployed one, in a hook as little as in a test. What
 * fails otherwise too has failed, and on a laptop there is something to look into.
 */
function isLaptopOnly(errors: readonly unknown[]): boolean {
  if (process.env.BASE_URL === undefined || errors.length === 0) return false;
  // With each error circus keeps where the test stands.
  return errors
    .map((error) => (Array.isArray(error) ? error[0] : error))
    .every((error) => (error as Error | undefined)?.name === 'LaptopOnly');
}

/** The lines that a file has got since they were last read or skipped. */
function tailOf(file: () => string | undefined): { read(): string[]; skip(): void } {
  let from = 0;
  const skip = () => {
    const path = file();
    if (path !== undefined) from = statSync(path).size;
  };
  return {
    read() {
      const path = file();
      const text = path === undefined ? '' : readFileSync(path).subarray(from).toString('utf8');
      skip();
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => `${line}\n`);
    },
    skip,
  };
}

function keepNotices(console: Console, kept: string[]): void {
  for (const level of ['info', 'warn'] as const) {
    const say = console[level].bind(console);
    console[level] = (...words: unknown[]) => {
      if (String(words[0]).includes('oidc-provider ')) kept.push(`${words.join(' ')}\n`);
      else say(...words);
    };
  }
}

export default runQuietly;
