import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { highlighting, theme } from './theme.ts';

interface EditorOptions {
  host: HTMLElement;
  text: string;
  language: 'typescript' | 'json';
  label: string;
  onChange(text: string): void;
}

/**
 * Puts an editor into `host`. It lives in a shadow root: there CodeMirror's styles are constructed sheets,
 * which the page's policy allows, and not style elements, which it forbids. Tab leaves the editor, as it
 * leaves every field.
 * @returns takes it away
 */
export function mountEditor({ host, text, language, label, onChange }: EditorOptions): () => void {
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
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        javascript({ typescript: language === 'typescript' }),
        syntaxHighlighting(HighlightStyle.define(highlighting)),
        theme,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return () => view.destroy();
}
