import { describe } from '@jest/globals';

/**
 * A suite that needs what not every machine has. Where that is missing its tests are skipped and counted
 * as such, and the name says why.
 * @param missing what is not there; undefined when all is
 */
export function describeUnless(missing: string | undefined, name: string, suite: () => void): void {
  const describeOrSkip = missing === undefined ? describe : describe.skip;
  describeOrSkip(missing === undefined ? name : `${name}: left out, ${missing}`, suite);
}
