import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { highlighting, theme } from './theme.ts';
import { types } from './types/extension.ts';
import type { Problem } from './types/protocol.ts';

interface EditorOptions {
  host: HTMLElement;
  text: string;
  language: 'typescript' | 'json';
  label: string;
  onChange(text: string): void;
  /** With these the code is checked while it is written. */
  checks?: Checks;
}

/** A problem with the place where it begins, counted from 1. */
export type PlacedProblem = Problem & { line: number; column: number };

export interface Checks {
  filename(): string;
  onProblems(problems: readonly PlacedProblem[]): void;
}

/** What can be done with an editor that is there. */
export interface MountedEditor {
  /** Puts the cursor there and the focus into the editor; both count from 1. */
  goTo(line: number, column: number): void;
  /** Replaces the whole text; it can be undone. */
  replace(text: string): void;
  unmount(): void;
}

/**
 * Puts an editor into `host`. It lives in a shadow root: there CodeMirror's styles are constructed sheets,
 * which the page's policy allows, and not style elements, which it forbids. Tab leaves the editor, as it
 * leaves every field.
 */
export function mountEditor({ host, text, language, label, onChange, checks }: EditorOptions): MountedEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        javascript({ typescript: language === 'typescript' }),
        syntaxHighlighting(HighlightStyle.define(highlighting)),
        theme,
        checks ? types(checks) : [],
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    goTo(line, column) {
      const { doc } = view.state;
      const at = doc.line(Math.max(1, Math.min(line, doc.lines)));
      const anchor = Math.min(at.from + Math.max(0, column - 1), at.to);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    replace(next) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    unmount: () => view.destroy(),
  };
}
