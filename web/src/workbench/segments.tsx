/** A message segment by segment, each field with its number, as far as the first segment tells how. */
export function Segments({ text }: { text: string }) {
  const segments = text.split(/\r\n?|\n/).filter((one) => one.trim() !== '');
  const separator = /^MSH(.)/.exec(segments[0] ?? '')?.[1];
  if (separator === undefined) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="output segments" tabIndex={0} aria-label="Segments">
      <ol>
        {segments.map((segment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text
          <li key={index}>
            <Fields segment={segment} separator={separator} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Fields({ segment, separator }: { segment: string; separator: string }) {
  const [name = '', ...fields] = segment.split(separator);
  // The separator itself is the first field of a header.
  const first = name === 'MSH' ? 2 : 1;
  return (
    <>
      <strong>{name}</strong>{' '}
      {fields.map((field, index) =>
        field === '' ? null : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a field is known by its number
          <span key={index} className="segment-field">
            <span className="muted">{index + first}</span> <code>{field}</code>
          </span>
        ),
      )}
    </>
  );
}
