import { isIP } from 'node:net';

/**
 * From where a request comes, as far as attempts are counted by it: the address that called the outermost
 * hop which the stage trusts, an IPv6 one by its /64, which is what one customer of a provider has.
 * @param of.sourceIp who called API Gateway
 * @param of.forwardedFor `X-Forwarded-For`: each hop adds whom it was called by at the end, API Gateway last
 * @param trustedHops how many proxies of the stage's own stand before API Gateway; what else the header says
 *   is the caller's own word
 */
export function sourceOf(
  { sourceIp, forwardedFor = '' }: { sourceIp: string; forwardedFor?: string | undefined },
  trustedHops: number,
): string {
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  const named = trustedHops === 0 ? undefined : hops[hops.length - 1 - trustedHops];
  return networkOf(named) ?? networkOf(sourceIp) ?? sourceIp;
}

/** Undefined for what is no address. */
function networkOf(text: string | undefined): string | undefined {
  const family = isIP(text ?? '');
  if (text === undefined || family === 0) return undefined;
  if (family === 4) return text;
  // The URL parser writes an address in its one short form, IPv4 inside it as two groups.
  const short = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const groups = expand(short);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

function expand(short: string): number[] {
  const [before = '', after] = short.split('::');
  const groups = (part: string) =>
    part
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const [head, tail] = [groups(before), groups(after ?? '')];
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}
