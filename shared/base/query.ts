import { Refusal } from './refusal.ts';

/** Far more than any request has use for: `URLSearchParams` takes the square of their number to read them. */
const mostParameters = 10_000;

/**
 * The parameters of a query or form that was sent.
 * @throws {Refusal} too-costly
 */
export function readQuery(text: string): URLSearchParams {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) count++;
  if (count <= mostParameters) return new URLSearchParams(text);
  throw new Refusal('too-costly', `A query or form has at most ${mostParameters} parameters`);
}
