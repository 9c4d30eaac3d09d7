import { useEffect, useRef } from 'react';
import { CopyButton } from '../ui/copy-button.tsx';

/** New recovery codes, this once: only their hashes are stored. */
export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="notice-good" aria-labelledby="recovery-codes">
      <h3 id="recovery-codes" ref={heading} tabIndex={-1}>
        Your recovery codes
      </h3>
      <p>
        This is the only time that they are shown. Keep them where your phone is not: each opens your sign-in
        once in its place.
      </p>
      <code className="secret">{codes.join(' ')}</code>
      <CopyButton text={codes.join('\n')} label="Copy the codes" />
    </section>
  );
}
