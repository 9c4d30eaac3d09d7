import { type RefObject, useEffect, useRef, useState } from 'react';
import { errorText } from '../../../shared/base/values.ts';
import { messageOf } from '../api/use-api.ts';
import { Notice } from '../ui/basics.tsx';
import type { EditorOptions, MountedEditor } from './mount-editor.ts';

interface Props extends Omit<EditorOptions, 'host'> {
  handle?: RefObject<MountedEditor | undefined>;
}

/**
 * Text with highlighting. The editor is fetched when the first one is shown.
 * @param props.text what it begins with, once it is there; a new `key` begins anew
 */
export function CodeEditor({ text, language, label, onChange, handle, checks }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef({ text, onChange, checks });
  const isThere = useRef(false);
  latest.current = { text: isThere.current ? latest.current.text : text, onChange, checks };
  const isChecked = checks !== undefined;
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    const gone = new AbortController();
    let mounted: MountedEditor | undefined;
    import('./mount-editor.ts').then(
      ({ mountEditor }) => {
        if (gone.signal.aborted || !host.current) return;
        isThere.current = true;
        mounted = mountEditor({
          host: host.current,
          text: latest.current.text,
          language,
          label,
          onChange(next) {
            latest.current.text = next;
            latest.current.onChange(next);
          },
          // Those that hold when they are asked: the editor lives longer than one drawing of the page.
          ...(isChecked
            ? {
                checks: {
                  filename: () => latest.current.checks?.filename() ?? '',
                  onProblems: (problems) => latest.current.checks?.onProblems(problems),
                },
              }
            : {}),
        });
        if (handle) handle.current = mounted;
      },
      (error: unknown) => setFailure(messageOf(error)),
    );
    return () => {
      gone.abort();
      mounted?.unmount();
      if (handle) handle.current = undefined;
    };
  }, [language, label, handle, isChecked]);
  if (failure) return <Notice kind="bad">The editor could not be loaded. {failure}</Notice>;
  return <div className="editor" ref={host} />;
}

/** What was typed as JSON. @throws {Error} with what is wrong and where */
export function parseTyped(text: string) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${errorText(error)}`);
  }
}
