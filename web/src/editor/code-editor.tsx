import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/message-of.ts';
import { Notice } from '../ui/notice.tsx';

interface Props {
  /** What it begins with; a new `key` begins anew. */
  text: string;
  language: 'typescript' | 'json';
  label: string;
  onChange(text: string): void;
}

/** Text with highlighting. The editor is fetched when the first one is shown. */
export function CodeEditor({ text, language, label, onChange }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef({ text, onChange });
  latest.current = { ...latest.current, onChange };
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    const gone = new AbortController();
    let unmount: (() => void) | undefined;
    import('./mount-editor.ts').then(
      ({ mountEditor }) => {
        if (gone.signal.aborted || !host.current) return;
        unmount = mountEditor({
          host: host.current,
          text: latest.current.text,
          language,
          label,
          onChange(next) {
            latest.current.text = next;
            latest.current.onChange(next);
          },
        });
      },
      (error: unknown) => setFailure(messageOf(error)),
    );
    return () => {
      gone.abort();
      unmount?.();
    };
  }, [language, label]);
  if (failure) return <Notice kind="bad">The editor could not be loaded. {failure}</Notice>;
  return <div className="editor" ref={host} />;
}
