/** Imported on demand: of `@medplum/core` the parser alone is bundled then. */

import { parseFhirPath } from '@medplum/core';

/** Whether the parser takes all of it. */
export function isFhirPath(expression: string): boolean {
  try {
    parseFhirPath(expression);
    // The parser stops where it understands no more; in parentheses it cannot.
    parseFhirPath(`(${expression})`);
    return true;
  } catch {
    return false;
  }
}
