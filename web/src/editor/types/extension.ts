import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { type Diagnostic, forceLinting, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';
import { EditorView, hoverTooltip, keymap } from '@codemirror/view';
import type { CodeFile, Language, LanguageAnswer, Problem, Question } from './language.ts';

const pauseMs = 500;

/** A problem with the place where it begins, counted from 1. */
export type PlacedProblem = Problem & { line: number; column: number };

export interface Checks {
  filename(): string;
  onProblems(problems: readonly PlacedProblem[]): void;
}

/** Names of kinds that CodeMirror has a sign for. */
const kinds: Readonly<Record<string, string>> = {
  method: 'method',
  function: 'function',
  'local function': 'function',
  const: 'constant',
  let: 'variable',
  var: 'variable',
  parameter: 'variable',
  class: 'class',
  interface: 'interface',
  type: 'type',
  keyword: 'keyword',
  property: 'property',
  module: 'namespace',
};

/**
 * Errors marked while one writes, completion and types of what stands under the pointer. The compiler is
 * loaded when the editor gets the focus.
 */
export function types({ filename, onProblems }: Checks): Extension {
  let compiler: Compiler | undefined;
  const fileOf = (view: EditorView['state']): CodeFile => ({ name: filename(), text: view.doc.toString() });
  const check = async (view: EditorView): Promise<Diagnostic[]> => {
    if (!compiler) return [];
    const { doc } = view.state;
    const found = await compiler.ask('check', fileOf(view.state)).catch(() => []);
    const placed = found.map((one) => {
      const from = Math.min(one.from, doc.length);
      const line = doc.lineAt(from);
      const to = Math.min(one.to, doc.length);
      return { ...one, from, to, line: line.number, column: from - line.from + 1 };
    });
    onProblems(placed);
    return placed.map(({ from, to, severity, message }) => ({ from, to, severity, message }));
  };
  return [
    lintGutter(),
    linter(check, { delay: pauseMs }),
    autocompletion({ override: [(context) => complete(compiler, context, fileOf(context.state))] }),
    hoverTooltip(async (view, at) => {
      const text = await compiler?.ask('describe', fileOf(view.state), at).catch(() => '');
      return text ? { pos: at, create: () => ({ dom: described(text) }) } : null;
    }),
    keymap.of([...completionKeymap, ...lintKeymap]),
    EditorView.domEventHandlers({
      focus(_event, view) {
        if (compiler) return;
        started ??= startCompiler();
        compiler = started;
        forceLinting(view);
      },
    }),
  ];
}

async function complete(
  compiler: Compiler | undefined,
  context: CompletionContext,
  file: CodeFile,
): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[\w$]*/);
  const isMember = context.matchBefore(/\.[\w$]*/) !== null;
  if (!compiler || !word || (word.from === word.to && !isMember && !context.explicit)) return null;
  const found = await compiler.ask('complete', file, context.pos).catch(() => []);
  if (found.length === 0) return null;
  return {
    from: word.from,
    validFor: /^[\w$]*$/,
    options: found.map(({ label, kind }) => ({ label, ...(kinds[kind] ? { type: kinds[kind] } : {}) })),
  };
}

function described(text: string): HTMLElement {
  const dom = document.createElement('div');
  dom.className = 'cm-described';
  dom.textContent = text;
  return dom;
}

type Waiting = { resolve(answer: never): void; reject(error: Error): void };

interface Compiler {
  ask<Kind extends keyof Language>(
    kind: Kind,
    ...given: Parameters<Language[Kind]>
  ): Promise<ReturnType<Language[Kind]>>;
}

/** One for the whole app; it is loaded when it is first wanted. */
let started: Compiler | undefined;

function startCompiler(): Compiler {
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
  worker.addEventListener('message', ({ data }: MessageEvent<LanguageAnswer>) => {
    const one = waiting.get(data.id);
    waiting.delete(data.id);
    if ('failed' in data) one?.reject(new Error(data.failed));
    else one?.resolve(data.answer as never);
  });
  return {
    ask: (kind, ...given) =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, { resolve, reject });
        worker.postMessage({ id: asked, kind, given } satisfies Question<typeof kind>);
      }),
  };
}
