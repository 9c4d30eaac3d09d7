/** The part that a parameter looks at, by the last element of its path; undefined when at no one part. */
export function partOf({ paths }: { paths: readonly { steps: readonly { element: string }[] }[] }) {
  const element = paths[0]?.steps.at(-1)?.element;
  return element === 'family' || element === 'given' ? element : undefined;
}
