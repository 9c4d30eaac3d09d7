import { createContext, useContext, useEffect, useRef } from 'react';

/** Finds out whether a field is ready to be sent; a field that is not shows why. */
export type Check = () => Promise<boolean>;

export const FormChecks = createContext<Set<Check> | undefined>(undefined);

/** A check that the form around waits for before it sends anything. */
export function useFormCheck(check: Check): void {
  const checks = useContext(FormChecks);
  const latest = useRef(check);
  latest.current = check;
  useEffect(() => {
    if (!checks) return;
    const own: Check = () => latest.current();
    checks.add(own);
    return () => {
      checks.delete(own);
    };
  }, [checks]);
}
