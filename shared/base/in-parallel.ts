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
