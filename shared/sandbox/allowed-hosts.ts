/** Which hosts a Project lets its Bots fetch from. Addresses are judged elsewhere, whatever this says. */

import type { RunRequest } from '../bot/contract.ts';

/** `hostname` as a parsed URL has it: lower case, punycode. */
export function isAllowedHost(hostname: string, rules: RunRequest['fetchHosts']): boolean {
  const host = hostname.replace(/\.$/, '');
  const matches = (pattern: string) =>
    pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
  if (rules?.deny?.some(matches)) return false;
  return rules?.allow?.some(matches) ?? true;
}
