import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { errorText } from '../../../shared/base/values.ts';
import { messageOf } from '../api/use-api.ts';
import { Notice } from '../ui/basics.tsx';
import type { EditorOptions, MountedEditor } from './mount-editor.ts';

interface Props extends Omit<EditorOptions, 'host'> {
  handle?: RefObject<MountedEditor | undefined>;
}

/**
 * Text with highlighting. The editor is fetched when the first one is shown.
 * @param props.text and `checks`: what it begins with, once it is there; a new `key` begins anew
 */
export function CodeEditor({ text, language, label, onChange, handle, checks }: Props) {
  const host = useRef<HTMLDivElement>(null);
  // What stands there, once the editor does: it lives longer than one drawing of the page.
  const current = useRef<string>(undefined);
  const begin = useEffectEvent(() => {
    current.current ??= text;
    return { text: current.current, ...(checks ? { checks } : {}) };
  });
  const change = useEffectEvent((next: string) => {
    current.current = next;
    onChange(next);
  });
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    const gone = new AbortController();
    let mounted: MountedEditor | undefined;
    import('./mount-editor.ts').then(
      ({ mountEditor }) => {
        if (gone.signal.aborted || !host.current) return;
        mounted = mountEditor({ host: host.current, ...begin(), language, label, onChange: change });
        if (handle) handle.current = mounted;
      },
      (error: unknown) => setFailure(messageOf(error)),
    );
    return () => {
      gone.abort();
      mounted?.unmount();
      if (handle) handle.current = undefined;
    };
  }, [language, label, handle]);
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
