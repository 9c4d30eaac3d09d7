import { describe, expect, test } from '@jest/globals';
import { isPublicAddress } from '../../shared/carry/address-guard/public-address.ts';
import fc from '../setup/fast-check.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001::200e',
  '2400:cb00::1',
];

const NOT_PUBLIC = [
  ['0.0.0.0', '0.1.2.3'],
  ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  ['127.0.0.1', '127.255.255.254', '169.254.169.254', '169.254.170.2'],
  ['192.0.0.192', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
  ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254', 'ff02::1', 'fec0::1', '5f00::1'],
  [
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:a9fe:a9fe',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
  ],
  ['2001::1', '2001:db8::1', '2002:7f00:1::1', '3fff::1', '4000::1'],
  ['', 'localhost', '1.1', '0x7f000001', '2130706433', '1.1.1.1.1', '[::1]', '1.1.1.1:80'],
].flat();

describe('an address', () => {
  test.each(PUBLIC)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
  test.each(NOT_PUBLIC)('"%s" is not', (address) => expect(isPublicAddress(address)).toBe(false));

  test('of loopback is never public, in whatever form', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(octet, octet, octet, (b, c, d) => {
        const v4 = `127.${b}.${c}.${d}`;
        return ![v4, `::ffff:${v4}`, `64:ff9b::${v4}`, `::${v4}`].some(isPublicAddress);
      }),
    );
  });
});
