import { createHash, timingSafeEqual } from 'node:crypto';
import type { Environment } from '../env.ts';

/** What the stage's front adds to each request that it passes on. */
export const originHeader = 'x-portico-origin';

/** Whether a request came through the stage's front, by the header that it bears. */
export type ComesThroughFront = (proof: string | undefined) => boolean;

/**
 * Of a stage whose front gives a proof: `ORIGIN_SECRETS` has the values that count, between commas, two while one is
 * replaced. Compared in constant time.
 * @returns nothing for a stage without
 * @throws {Error} for a value that is too short to be one, such as a reference that was not resolved
 */
export function frontOf({ ORIGIN_SECRETS: secrets }: Environment): { comesThroughFront?: ComesThroughFront } {
  if (!secrets) return {};
  const values = secrets.split(',');
  if (!values.every((value) => /^\w{32,}$/.test(value))) throw new Error('ORIGIN_SECRETS holds no secrets');
  const known = values.map(digest);
  return {
    comesThroughFront(proof = '') {
      const given = digest(proof);
      return known.map((one) => timingSafeEqual(one, given)).includes(true);
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
