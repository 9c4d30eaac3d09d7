import { useEffect, useRef } from 'react';
import { CopyButton } from '../ui/copy-button.tsx';
import type { NewClient } from './new-client-form.tsx';

/** A key's new secret, this once: only its hash is stored. A public app has none. */
export function NewSecret({ client: { id, secret }, title }: { client: NewClient; title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'center' });
    heading.current?.focus();
  }, []);
  return (
    <section className="card notice-good" aria-labelledby="new-secret">
      <h2 id="new-secret" ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>
        {secret
          ? 'This is the only time that the secret is shown. Whoever has it can act as this key.'
          : 'It is a public app: it signs people in with its id, and has no secret.'}
      </p>
      <div>
        <p className="legend">Client id</p>
        <code className="secret">{id}</code>
      </div>
      {secret ? (
        <>
          <div>
            <p className="legend">Client secret</p>
            <code className="secret">{secret}</code>
          </div>
          <CopyButton text={secret} label="Copy the secret" />
        </>
      ) : (
        <CopyButton text={id} label="Copy the client id" />
      )}
    </section>
  );
}
