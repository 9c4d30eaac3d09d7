import type { Answered, Answers, Questions } from './protocol.ts';

type Waiting = { resolve(answer: never): void; reject(error: Error): void };

/** Asks the compiler in its worker. */
export interface Compiler {
  ask<Kind extends keyof Questions>(kind: Kind, question: Questions[Kind]): Promise<Answers[Kind]>;
}

let started: Compiler | undefined;

/** One for the whole app; it is loaded when it is first wanted. */
export function startCompiler(): Compiler {
  started ??= start();
  return started;
}

function start(): Compiler {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    type: 'module',
    name: import.meta.env.DECLARATIONS,
  });
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  const fail = (error: Error) => {
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
    started = undefined;
    worker.terminate();
  };
  worker.addEventListener('error', () => fail(new Error('The compiler could not be loaded')));
  worker.addEventListener('message', ({ data }: MessageEvent<Answered>) => {
    const one = waiting.get(data.id);
    waiting.delete(data.id);
    if ('failed' in data) one?.reject(new Error(data.failed));
    else one?.resolve(data.answer as never);
  });
  return {
    ask: (kind, question) =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, { resolve, reject });
        worker.postMessage({ id: asked, kind, ...question });
      }),
  };
}
