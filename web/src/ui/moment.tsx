const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A date and time of day where the reader is. */
export function Moment({ at }: { at: string | undefined }) {
  if (!at) return <>unknown</>;
  return <time dateTime={at}>{format.format(new Date(at))}</time>;
}
