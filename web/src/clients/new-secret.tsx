import { useEffect, useRef } from 'react';
import { CopyButton } from '../ui/copy-button.tsx';
import type { NewClient } from './new-client-form.tsx';

/** A key's new secret, this once: only its hash is stored. */
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
      <p>This is the only time that the secret is shown. Whoever has it can act as this key.</p>
      <div>
        <p className="legend">Client id</p>
        <code className="secret">{id}</code>
      </div>
      <div>
        <p className="legend">Client secret</p>
        <code className="secret">{secret}</code>
      </div>
      <CopyButton text={secret} label="Copy the secret" />
    </section>
  );
}
