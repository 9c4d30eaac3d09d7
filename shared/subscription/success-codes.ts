/** Which statuses of a hook are a success. */
export type SuccessCodes = readonly (readonly [from: number, to: number])[];

export const usualSuccess: SuccessCodes = [[200, 299]];

/** `200-299,404`. Undefined when it cannot be read. */
export function parseSuccessCodes(text: unknown): SuccessCodes | undefined {
  if (typeof text !== 'string' || text.length > 200) return undefined;
  const ranges = text.split(',').map((part) => {
    const [, from = '', to = from] = /^\s*([1-5]\d\d)\s*(?:-\s*([1-5]\d\d)\s*)?$/.exec(part) ?? [];
    return [Number(from || Number.NaN), Number(to || Number.NaN)] as const;
  });
  return ranges.every(([from, to]) => from <= to) ? ranges : undefined;
}

export function isSuccess(codes: SuccessCodes, status: number): boolean {
  return codes.some(([from, to]) => status >= from && status <= to);
}
