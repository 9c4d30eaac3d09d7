import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { type Diagnostic, forceLinting, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';
import { EditorView, hoverTooltip, keymap } from '@codemirror/view';
import { type Compiler, startCompiler } from './compiler.ts';
import type { CodeFile, Problem } from './protocol.ts';

const pauseMs = 500;

interface TypesOptions {
  filename(): string;
  /** What is wrong with the code as it stands; undefined before anybody looked. */
  onProblems(problems: readonly (Problem & { line: number; column: number })[]): void;
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
export function types({ filename, onProblems }: TypesOptions): Extension {
  let compiler: Compiler | undefined;
  const fileOf = (view: EditorView['state']): CodeFile => ({ name: filename(), text: view.doc.toString() });
  const check = async (view: EditorView): Promise<Diagnostic[]> => {
    if (!compiler) return [];
    const { doc } = view.state;
    const found = await compiler.ask('check', { file: fileOf(view.state) }).catch(() => []);
    const placed = found.map((one) => {
      const from = Math.min(one.from, doc.length);
      const line = doc.lineAt(from);
      return {
        ...one,
        from,
        to: Math.min(one.to, doc.length),
        line: line.number,
        column: from - line.from + 1,
      };
    });
    onProblems(placed);
    return placed.map(({ from, to, severity, message }) => ({ from, to, severity, message }));
  };
  return [
    lintGutter(),
    linter(check, { delay: pauseMs }),
    autocompletion({ override: [(context) => complete(compiler, context, fileOf(context.state))] }),
    hoverTooltip(async (view, at) => {
      const text = await compiler?.ask('describe', { file: fileOf(view.state), at }).catch(() => '');
      return text ? { pos: at, create: () => ({ dom: described(text) }) } : null;
    }),
    keymap.of([...completionKeymap, ...lintKeymap]),
    EditorView.domEventHandlers({
      focus(_event, view) {
        if (compiler) return;
        compiler = startCompiler();
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
  const found = await compiler.ask('complete', { file, at: context.pos }).catch(() => []);
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
