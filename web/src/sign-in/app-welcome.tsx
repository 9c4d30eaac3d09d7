import { useEffect, useState } from 'react';
import { baseUrl } from '../session/session.ts';

/** What the app that sent the person says to greet them, as its text only; nothing while that is not known. */
export function AppWelcome({ clientId }: { clientId: string }) {
  const [text, setText] = useState<string>();
  useEffect(() => {
    const gone = new AbortController();
    fetch(`${baseUrl}/auth/clientinfo/${encodeURIComponent(clientId)}`, { signal: gone.signal })
      .then((answer) => (answer.ok ? answer.json() : {}))
      .then(({ welcomeString }: { welcomeString?: unknown }) => {
        if (typeof welcomeString === 'string') setText(welcomeString);
      })
      // People sign in without it as well.
      .catch(() => undefined);
    return () => gone.abort();
  }, [clientId]);
  return text === undefined ? null : <p className="muted">{text}</p>;
}
