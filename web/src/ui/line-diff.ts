/** A line of two texts laid side by side. */
export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** Texts that differ in more lines than that are shown one after the other. */
const mostDifferences = 500;

/** The lines of both texts in one order, with as few differences as can be (Myers' algorithm). */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const middle = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)] as const;
  return [
    ...lines('same', a.slice(0, head)),
    ...(compared(...middle) ?? [...lines('removed', middle[0]), ...lines('added', middle[1])]),
    ...lines('same', tail === 0 ? [] : a.slice(-tail)),
  ];
}

function lines(kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ kind, text }));
}

/** Undefined when there are too many differences. */
function compared(a: readonly string[], b: readonly string[]): DiffLine[] | undefined {
  const furthest = new Map([[1, 0]]);
  const rounds: Map<number, number>[] = [];
  for (let d = 0; d <= Math.min(a.length + b.length, mostDifferences); d++) {
    rounds.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      let x = isDown(furthest, k, d) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return traced(a, b, rounds);
    }
  }
  return undefined;
}

/** From the end back to the beginning, round by round. */
function traced(
  a: readonly string[],
  b: readonly string[],
  rounds: readonly Map<number, number>[],
): DiffLine[] {
  const found: DiffLine[] = [];
  let [x, y] = [a.length, b.length];
  for (let d = rounds.length - 1; d >= 0; d--) {
    const furthest = rounds[d] ?? new Map();
    const k = x - y;
    const from = isDown(furthest, k, d) ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : at(furthest, from);
    const fromY = d === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      found.push({ kind: 'same', text: a[x - 1] ?? '' });
      x -= 1;
      y -= 1;
    }
    if (d === 0) break;
    if (x > fromX) found.push({ kind: 'removed', text: a[x - 1] ?? '' });
    else found.push({ kind: 'added', text: b[y - 1] ?? '' });
    [x, y] = [fromX, fromY];
  }
  return found.reverse();
}

function isDown(furthest: ReadonlyMap<number, number>, k: number, d: number): boolean {
  return k === -d || (k !== d && at(furthest, k - 1) < at(furthest, k + 1));
}

function at(furthest: ReadonlyMap<number, number>, k: number): number {
  return furthest.get(k) ?? 0;
}
