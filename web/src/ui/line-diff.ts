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

/** A line of the way from one text to the other, and those before it. */
interface Step extends DiffLine {
  before: Step | undefined;
}

/** Undefined when there are too many differences. */
function compared(a: readonly string[], b: readonly string[]): DiffLine[] | undefined {
  // Of each diagonal, how far one comes on it, and by which steps.
  const furthest = new Map<number, { x: number; last: Step | undefined }>([[1, { x: 0, last: undefined }]]);
  const at = (k: number) => furthest.get(k) ?? { x: 0, last: undefined };
  for (let d = 0; d <= Math.min(a.length + b.length, mostDifferences); d++) {
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && at(k - 1).x < at(k + 1).x);
      let { x, last } = isDown ? at(k + 1) : at(k - 1);
      if (d > 0 && isDown) last = { kind: 'added', text: b[x - k - 1] ?? '', before: last };
      if (!isDown) {
        last = { kind: 'removed', text: a[x] ?? '', before: last };
        x += 1;
      }
      while (x < a.length && a[x] === b[x - k]) {
        last = { kind: 'same', text: a[x] ?? '', before: last };
        x += 1;
      }
      furthest.set(k, { x, last });
      if (x >= a.length && x - k >= b.length) return stepsTo(last);
    }
  }
  return undefined;
}

function stepsTo(last: Step | undefined): DiffLine[] {
  const steps: DiffLine[] = [];
  for (let step = last; step; step = step.before) steps.push({ kind: step.kind, text: step.text });
  return steps.reverse();
}
