/** Works on all of them, so many at a time. The first fault ends it; what is under way by then goes on. */
export async function inParallel<T>(
  all: Iterable<T>,
  atOnce: number,
  work: (one: T) => Promise<unknown>,
): Promise<void> {
  const left = [...all].values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const one of left) await work(one);
    }),
  );
}

/** A list in pieces of so many. */
export function inChunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
