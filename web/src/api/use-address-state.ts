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
  const [query, setQuery] = useSearchParams();
  const value = allowed.find((one) => one === query.get(name)) ?? initial;
  const choose = (next: Value) =>
    setQuery(
      (before) => {
        if (next === initial) before.delete(name);
        else before.set(name, next);
        return before;
      },
      { replace: true },
    );
  return [value, choose];
}

/** The same for a text that a person types. */
export function useAddressText(name: string): [string, (next: string) => void] {
  const [query, setQuery] = useSearchParams();
  const write = (next: string) =>
    setQuery(
      (before) => {
        if (next === '') before.delete(name);
        else before.set(name, next);
        return before;
      },
      { replace: true },
    );
  return [query.get(name) ?? '', write];
}
