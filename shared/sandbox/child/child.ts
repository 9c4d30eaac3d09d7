/**
 * The child process: one run at a time, no environment, no credentials, no files but its own.
 * It is killed, never asked to exit: `process.exit` can hang on an isolate's thread.
 */

import type { FromChild, ToChild } from '../protocol.ts';
import { loadEngine } from './engine.ts';
import { type ActiveRun, startRun } from './isolate-run.ts';

const [, , guestDir = ''] = process.argv;
const die = () => process.kill(process.pid, 'SIGKILL');

/** Without a supervisor nobody would end a run. */
process.on('disconnect', die);
process.on('uncaughtException', die);

const engine = loadEngine(guestDir);
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

function begin({ run, request }: Extract<ToChild, { type: 'run' }>): void {
  const handle = startRun(engine, request, {
    log: (level, text) => tell({ type: 'log', run, level: level as 'info', text }),
    fetch: (id, wire) => tell({ type: 'fetch', run, id, request: wire }),
    abort: (id) => tell({ type: 'fetch-abort', run, id }),
    done: (outcome) => tell({ type: 'done', run, outcome }),
    idle: () => {
      active = undefined;
      tell({ type: 'idle', run });
    },
    catastrophe: die,
  });
  active = { run, handle };
}

function tell(message: FromChild): void {
  process.send?.(message);
}
