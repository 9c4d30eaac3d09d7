import { pathSegment } from './path-segment.ts';

/** Names a Bot inside its Project. Without `system` it is found as `|value`. */
export interface Identifier {
  system?: string | undefined;
  value: string;
}

/**
 * The path that executes a Bot, below the service's address.
 * @throws {TypeError} when the id or the identifier's value is empty
 */
export function executePath(bot: string | Identifier): string {
  if (typeof bot === 'string') return `fhir/R4/Bot/${pathSegment(bot)}/$execute`;
  if (typeof bot?.value !== 'string' || bot.value === '') throw new TypeError('An identifier needs a value');
  return `fhir/R4/Bot/$execute?identifier=${encodeURIComponent(`${bot.system ?? ''}|${bot.value}`)}`;
}
