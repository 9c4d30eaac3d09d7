import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { bareEnvironment } from '../setup/bare-environment.ts';
import type { Portico } from '../spec/portico.ts';

const root = resolve(import.meta.dirname, '../..');
let bundled: string | undefined;

/** The program as it is shipped, in one file: it starts three times as fast as its source. Once a test file. */
function program(): string {
  if (bundled !== undefined) return bundled;
  const folder = mkdtempSync(join(tmpdir(), 'portico-mllp-program-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  bundled = join(folder, 'portico-mllp.mjs');
  const options = ['--bundle', '--platform=node', '--format=esm', '--target=node22', '--log-level=warning'];
  execFileSync(
    join(root, 'node_modules/.bin/esbuild'),
    ['mllp/src/main.ts', ...options, `--outfile=${bundled}`],
    {
      cwd: root,
    },
  );
  return bundled;
}

/** A line of the program's log. */
type LogLine = { level: string; event: string } & Record<string, string | number | boolean>;

export interface Bridge {
  /** One for each listener. */
  ports: number[];
  healthPort: number;
  pid: number;
  log: LogLine[];
  /** The first line of an event that is still to come or has come, with these fields. */
  line(event: string, fields?: Record<string, unknown>): Promise<LogLine>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs the program as a process of its own. */
function startProgram(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, [program(), ...args], {
    env: { ...bareEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A test that fails before it stops its program does not leave it behind.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  return child.once('exit', () => process.off('exit', kill));
}

/** Runs it to its end. @param input of its standard input */
export async function runProgram(
  args: readonly string[],
  { env, input = '' }: { env?: Record<string, string>; input?: string | Buffer } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = startProgram(args, env);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  // A program that ends early closes its input.
  child.stdin?.on('error', () => undefined).end(input);
  const [code] = await once(child, 'close');
  return { code, stdout: await stdout, stderr: await stderr };
}

async function collect(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}

/** Settings of a listener, and of the program, as its file holds them. */
export interface BridgeSettings {
  listeners: object[];
  [setting: string]: unknown;
}

/** A program that receives for the first Project, as a client that is no administrator. */
export async function startBridge(portico: Portico, settings: BridgeSettings): Promise<Bridge> {
  const { createClient } = await import('../spec/running.ts');
  const { id, secret } = await createClient(portico);
  return startBridgeAs({ service: portico.baseUrl, clientId: id, ...settings }, secret);
}

export async function startBridgeAs(settings: BridgeSettings, secret: string): Promise<Bridge> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-mllp-'));
  const file = join(folder, 'mllp.json');
  const listeners = settings.listeners.map((listener) => ({ listen: '0', ...listener }));
  await writeFile(file, JSON.stringify({ healthPort: 0, ...settings, listeners }));
  const child = startProgram(['--config', file], { PORTICO_CLIENT_SECRET: secret });
  const log: LogLine[] = [];
  const waiting = new Set<() => void>();
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint += chunk;
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin }).on('line', (text) => {
    log.push(JSON.parse(text));
    for (const look of waiting) look();
  });
  let isOver = false;
  // Its last lines may come after its end.
  const exited = Promise.all([once(child, 'close'), once(lines, 'close')]).then(([[code]]) => {
    isOver = true;
    for (const look of waiting) look();
    return code as number | null;
  });
  const line = (event: string, fields: Record<string, unknown> = {}) =>
    new Promise<LogLine>((done, failed) => {
      const look = () => {
        const found = log.find(
          (one) =>
            one.event === event && Object.entries(fields).every(([name, value]) => one[name] === value),
        );
        if (!found && !isOver) return;
        waiting.delete(look);
        if (found) done(found);
        else failed(new Error(`Ended before ${event}: ${complaint}${JSON.stringify(log)}`));
      };
      waiting.add(look);
      look();
    });
  const { ports, healthPort } = await line('started');
  return {
    ports: String(ports).split(',').map(Number),
    healthPort: Number(healthPort),
    pid: child.pid ?? 0,
    log,
    line,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      const code = await exited;
      await rm(folder, { recursive: true, force: true });
      return code;
    },
  };
}
