/**
 * The child process: one run at a time, no environment, no credentials, no files but its own.
 * It is killed, never asked to exit: `process.exit` can hang on an isolate's thread.
 */

import { writeSync } from 'node:fs';
import type { FromChild, ToChild } from '../protocol.ts';
import { type Engine, loadEngine } from './engine.ts';
import { type FreshIsolate, freshIsolate } from './fresh-isolate.ts';
import { type ActiveRun, startRun } from './isolate-run.ts';

const [, , guestDir = ''] = process.argv;
const die = () => process.kill(process.pid, 'SIGKILL');

/** Without a supervisor nobody would end a run. */
process.on('disconnect', die);

const engine = engineOrEnd();
process.on('uncaughtException', die);
/** Made while nobody waits, for a next run with the same limit. */
let spare: FreshIsolate | undefined;
let active: { run: number; handle: ActiveRun } | undefined;

process.on('message', (message: ToChild) => {
  if (message.type === 'run') {
    begin(message);
  } else if (active?.run === message.run) {
    if (message.type === 'fetched') {
      active.handle.fetched(message.id, message.response);
    } else {
      active.handle.fetchFailed(message.id, message.message);
    }
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
  const handle = startRun(engine, takeFresh(request.limits.memoryMb), request, {
    log: (level, text) => tell({ type: 'log', run, level, text }),
    fetch: (id, wire) => tell({ type: 'fetch', run, id, request: wire }),
    abort: (id) => tell({ type: 'fetch-abort', run, id }),
    done: (outcome) => tell({ type: 'done', run, outcome }),
    idle: (libraries) => {
      active = undefined;
      tell({ type: 'idle', run });
      setImmediate(() => prepare(request.limits.memoryMb, libraries));
    },
  });
  active = { run, handle };
}

function takeFresh(memoryMb: number): FreshIsolate {
  const taken = spare;
  spare = undefined;
  if (taken?.memoryMb === memoryMb) {
    return taken;
  }
  taken?.dispose();
  return freshIsolate(engine, memoryMb, die);
}

/** Most often the next run is of the same Bot: nothing of this one is kept but what it needed. */
function prepare(memoryMb: number, libraries: ReadonlySet<string>): void {
  if (active !== undefined) {
    return;
  }
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
