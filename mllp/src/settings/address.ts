import { BlockList, isIP, isIPv6 } from 'node:net';

export interface HostAndPort {
  host: string;
  port: number;
}

/** `2575` (this machine only), `host:2575`, `[::]:2575`. @throws {Error} */
export function parseAddress(text: string, defaultHost = '127.0.0.1'): HostAndPort {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]/\s]+):)?(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2]);
  if (!match || port > 65_535) throw new Error('must be a port or host:port');
  return { host: match[1]?.replace(/^\[|\]$/g, '') ?? defaultHost, port };
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '');
  return plain === 'localhost' || plain === '::1' || /^127(?:\.\d+){3}$/.test(plain);
}

/** Which addresses may connect. */
export type AllowList = (address: string) => boolean;

/** Addresses and networks in CIDR notation. @throws {Error} naming the entry */
export function allowList(entries: readonly string[]): AllowList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const version = isIP(address);
    const most = version === 6 ? 128 : 32;
    const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (version === 0 || rest.length > 0 || !(bits <= most)) {
      throw new Error(`must be addresses or networks such as 10.1.0.0/16, not ${JSON.stringify(entry)}`);
    }
    list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4');
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** IPv4 as a socket that listens to both tells it: `::ffff:10.1.2.3`. */
export function withoutMapping(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}
