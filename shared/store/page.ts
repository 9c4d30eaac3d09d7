import { mostEntryCharacters } from '../limits.ts';

/** One thing that a listing comes to, in its order. */
export interface Positioned<T, P> {
  /** Where the listing goes on behind it. */
  position: P;
  /** Undefined for what was looked at and is not for the caller. */
  value: T | undefined;
}

/** Some values of a listing; `next` is where the following page goes on, if there may be one. */
export interface Page<T, P> {
  values: T[];
  next: P | undefined;
  /** How many values the following page has still to leave out. */
  offset: number;
}

export interface PageOptions<T> {
  /** How many values a page holds. */
  count: number;
  /** Values that come first and are left out. */
  offset?: number;
  /** Characters of a value in the answer: a page ends early rather than being longer than an answer may be. */
  sizeOf(value: T): number;
}

/** A page looks at no more than this: it then ends early, even empty, and the next goes on from there. */
const mostLooked = 1000;

/** The first page of a listing. */
export async function takePage<T, P>(
  listing: AsyncIterable<Positioned<T, P>>,
  { count, offset = 0, sizeOf }: PageOptions<T>,
): Promise<Page<T, P>> {
  const values: T[] = [];
  let last: P | undefined;
  let left = offset;
  let characters = 0;
  let looked = 0;
  for await (const { position, value } of listing) {
    if (value !== undefined && left > 0) left--;
    else if (value !== undefined) {
      characters += sizeOf(value);
      const isFull = values.length === count || (characters > mostEntryCharacters && values.length > 0);
      if (isFull) return { values, next: last, offset: 0 };
      values.push(value);
    }
    last = position;
    if (++looked >= mostLooked) return { values, next: last, offset: Math.max(left, 0) };
  }
  return { values, next: undefined, offset: 0 };
}
