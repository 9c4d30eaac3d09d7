import { useEffect, useRef } from 'react';
import { CopyButton } from '../ui/copy-button.tsx';

interface Props {
  codes: readonly string[];
  /** By what they stand under. */
  heading: 'h2' | 'h3';
}

/** New recovery codes, this once: only their hashes are stored. */
export function RecoveryCodes({ codes, heading: Heading }: Props) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <section className="notice-good" aria-labelledby="recovery-codes">
      <Heading id="recovery-codes" ref={title} tabIndex={-1}>
        Your recovery codes
      </Heading>
      <p>
        This is the only time that they are shown. Keep them where your phone is not: each opens your sign-in
        once in its place.
      </p>
      <code className="secret">{codes.join(' ')}</code>
      <CopyButton text={codes.join('\n')} label="Copy the codes" />
    </section>
  );
}
