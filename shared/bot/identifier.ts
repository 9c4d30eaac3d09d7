import { Refusal } from '../refusal.ts';

/**
 * `identifier=<system>|<value>`, split at the first `|`; an empty system matches an identifier
 * without one.
 * @throws {Refusal} invalid when it is missing, empty, given twice, or has no `|`
 */
export function parseBotIdentifier(query: URLSearchParams): { system: string; value: string } {
  const [text, ...more] = query.getAll('identifier');
  if (!text || more.length > 0) throw new Refusal('invalid', 'Must specify bot ID or identifier.');
  const bar = text.indexOf('|');
  if (bar < 0) throw new Refusal('invalid', 'The identifier must be <system>|<value>.');
  const value = text.slice(bar + 1);
  if (value === '') throw new Refusal('invalid', 'The identifier has no value.');
  return { system: text.slice(0, bar), value };
}
