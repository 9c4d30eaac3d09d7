/** Which addresses a Bot may reach. Pure: a table of ranges, no look-up. */

import { BlockList, isIP } from 'node:net';

/** IANA's special-purpose registry: everything that is not the public internet. */
const NOT_PUBLIC_V4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier NAT; also some clouds' metadata
  ['127.0.0.0', 8], // loopback; Lambda's runtime API
  ['169.254.0.0', 16], // link-local; metadata and credentials
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** Inside 2000::/3, the only range of IPv6 that is public; v4-mapped, NAT64, local ones lie outside of it. */
const NOT_PUBLIC_V6: readonly [network: string, prefix: number][] = [
  ['2001::', 23], // protocol assignments, Teredo
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: a v4 address in disguise
  ['3fff::', 20], // documentation
];

const denied = new BlockList();
const allowedV6 = new BlockList();
for (const [network, prefix] of NOT_PUBLIC_V4) denied.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of NOT_PUBLIC_V6) denied.addSubnet(network, prefix, 'ipv6');
allowedV6.addSubnet('2000::', 3, 'ipv6');

/** False for all that is not a public unicast address, and for what is no IP address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !denied.check(address, 'ipv4');
    case 6:
      return allowedV6.check(address, 'ipv6') && !denied.check(address, 'ipv6');
    default:
      return false;
  }
}
