import { useSearchParams } from 'wouter';

/**
 * What is chosen on a page, kept in its address: a reload, a bookmark and the way back find it again. What
 * the page begins with is left out of the address.
 * @param allowed any other value in the address counts as `initial`
 */
export function useAddressState<Value extends string>(
  name: string,
  allowed: readonly Value[],
  initial: Value,
): [Value, (next: Value) => void] {
  const [text, setText] = useAddressText(name);
  const value = allowed.find((one) => one === text) ?? initial;
  return [value, (next: Value) => setText(next === initial ? '' : next)];
}

/** The same for a text that a person types. */
export function useAddressText(name: string): [string, (next: string) => void] {
  const [query, setQuery] = useSearchParams();
  const write = (next: string) =>
    setQuery(
      (before) => {
        if (next === '') before.delete(name);
        else before.set(name, next);
        // Another list: of this one nobody has seen more than its first page.
        before.delete(shown);
        return before;
      },
      { replace: true },
    );
  return [query.get(name) ?? '', write];
}

const shown = 'shown';

/** How many rows of the page's list were loaded, beyond its first page. */
export function useAddressCount(): [number, (next: number) => void] {
  const [query, setQuery] = useSearchParams();
  const write = (next: number) =>
    setQuery(
      (before) => {
        before.set(shown, String(next));
        return before;
      },
      { replace: true },
    );
  const count = Number(query.get(shown));
  return [Number.isSafeInteger(count) && count > 0 ? count : 0, write];
}
