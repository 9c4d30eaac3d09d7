import type { ReactNode } from 'react';

/** A text as it came, which scrolls by itself when it is long: the keyboard must reach it then. */
export function Output({
  label,
  text,
  children = text,
}: {
  label: string;
  text?: string;
  children?: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="output" tabIndex={0} aria-label={label}>
      <pre>{children}</pre>
    </section>
  );
}
