import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
  type TagStyle,
} from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type Checks, types } from './types/extension.ts';

export interface EditorOptions {
  host: HTMLElement;
  text: string;
  language: 'typescript' | 'json';
  label: string;
  onChange(text: string): void;
  checks?: Checks;
}

/** What can be done with an editor that is there. */
export interface MountedEditor {
  /** Puts the cursor there and the focus into the editor; both count from 1. */
  goTo(line: number, column: number): void;
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

/** The colours of the page, which pass through into the shadow root. */
const theme = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    height: 'var(--editor-height, auto)',
    minHeight: '18rem',
    maxHeight: 'var(--editor-most, 32rem)',
  },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '0.875rem', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0', minHeight: '18rem' },
  '.cm-gutter': { minHeight: '18rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--muted)', borderRightColor: 'var(--line)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent-soft) 45%, transparent)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--focus) 30%, transparent) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-described, .cm-tooltip-lint': {
    maxWidth: 'min(36rem, 90vw)',
    padding: '0.5rem 0.75rem',
    fontSize: '0.875rem',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
  },
  '.cm-panels': { backgroundColor: 'var(--ground)', color: 'var(--text)' },
});

const highlighting: readonly TagStyle[] = [
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.regexp], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--waiting)' },
  { tag: [tags.comment], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className, tags.propertyName], color: 'var(--accent-deep)' },
];
