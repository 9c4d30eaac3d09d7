/**
 * The child process: one run at a time, no environment, no credentials, no files but its own.
 * It is killed, never asked to exit: `process.exit` can hang on an isolate's thread.
 */

import { writeSync } from 'node:fs';
import type { FromChild, ToChild } from '../protocol.ts';
import { type Engine, type FreshIsolate, freshIsolate, loadEngine } from './isolate.ts';
import { startRun } from './run.ts';

const [, , guestDir = ''] = process.argv;
const die = () => process.kill(process.pid, 'SIGKILL');

/** Without a supervisor nobody would end a run. */
process.on('disconnect', die);
// Warnings would go to an error output that nobody reads.
process.noDeprecation = true;

const engine = engineOrEnd();
process.on('uncaughtException', die);
/** Made while nobody waits, for a next run with the same limit. */
let spare: FreshIsolate | undefined;
let active: { run: number; answered: ReturnType<typeof startRun> } | undefined;

process.on('message', (message: ToChild) => {
  if (message.type === 'run') {
    begin(message);
  } else if (active?.run === message.run) {
    active.answered(message);
  }
});
tell({ type: 'ready' });

/** What the loader says of a missing library goes to stderr, which the supervisor reads until we are ready. */
function engineOrEnd(): Engine {
  try {
    return loadEngine(guestDir);
  } catch (error) {
    writeSync(2, String(error));
    die();
    throw error;
  }
}

function begin({ run, request }: Extract<ToChild, { type: 'run' }>): void {
  const { memoryMb } = request.limits;
  const onIdle = (libraries: ReadonlySet<string>) => {
    active = undefined;
    setImmediate(() => prepare(memoryMb, libraries));
  };
  const answered = startRun({ engine, fresh: takeFresh(memoryMb), run, request, tell, onIdle });
  active = { run, answered };
}

function takeFresh(memoryMb: number): FreshIsolate {
  const taken = spare;
  spare = undefined;
  if (taken?.memoryMb === memoryMb) return taken;
  taken?.dispose();
  return freshIsolate(engine, memoryMb, die);
}

/** Most often the next run is of the same Bot: nothing of this one is kept but what it needed. */
function prepare(memoryMb: number, libraries: ReadonlySet<string>): void {
  if (active !== undefined) return;
  if (engine.learn(libraries)) {
    // A run that has come meanwhile goes first.
    setImmediate(() => prepare(memoryMb, libraries));
  } else {
    spare ??= freshIsolate(engine, memoryMb, die, libraries);
  }
}

function tell(message: FromChild): void {
  process.send?.(message);
}
