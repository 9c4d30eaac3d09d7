import { useEffect, useState } from 'react';
import type { Parameter } from '../../../shared/index/registry.ts';

/** Which types there are, and by what each is searched, as the service knows it. */
export interface Registry {
  types: readonly string[];
  /** In the order of their names. */
  parametersOf(type: string): readonly Pick<Parameter, 'code' | 'type'>[];
}

let known: Registry | undefined;

/** Loaded when the first page asks for it; undefined until then. */
export function useRegistry(): Registry | undefined {
  const [registry, setRegistry] = useState(known);
  useEffect(() => {
    if (known) return;
    import('../../../shared/index/registry.ts').then(
      ({ parametersOf, resourceTypes }) => {
        known = {
          types: resourceTypes(),
          parametersOf: (type) => [...parametersOf(type).values()].sort((a, b) => (a.code < b.code ? -1 : 1)),
        };
        setRegistry(known);
      },
      // Then records are listed without being searched.
      () => undefined,
    );
  }, []);
  return registry;
}
