import { describe, expect, test } from '@jest/globals';
import { sourceOf } from '../../shared/carry/http/request.ts';
import fc from '../setup/fast-check.ts';

const peer = '203.0.113.7';

describe('a source', () => {
  test.each<[string, { sourceIp: string; forwardedFor?: string }, number, string]>([
    [
      'who called API Gateway, whatever the header says',
      { sourceIp: peer, forwardedFor: `1.1.1.1, ${peer}` },
      0,
      peer,
    ],
    [
      'whom our proxy was called by',
      { sourceIp: peer, forwardedFor: `9.9.9.9, 1.1.1.1, ${peer}` },
      1,
      '1.1.1.1',
    ],
    [
      'whom the outer of two was called by',
      { sourceIp: peer, forwardedFor: `9.9.9.9,1.1.1.1,${peer}` },
      2,
      '9.9.9.9',
    ],
    [
      'who called API Gateway, where the header is too short',
      { sourceIp: peer, forwardedFor: peer },
      1,
      peer,
    ],
    ['or has no address there', { sourceIp: peer, forwardedFor: `unknown, ${peer}` }, 1, peer],
    ['or is missing', { sourceIp: peer }, 2, peer],
    ['an IPv6 network', { sourceIp: '2001:db8:1:2:3:4:5:6' }, 0, '2001:db8:1:2::/64'],
    ['the same one, written otherwise', { sourceIp: '2001:0DB8:0001:0002::1' }, 0, '2001:db8:1:2::/64'],
    ['with a zone', { sourceIp: 'fe80::1%eth0' }, 0, 'fe80:0:0:0::/64'],
    ['IPv4 written as IPv6', { sourceIp: '::ffff:203.0.113.7' }, 0, peer],
    ['of the loopback', { sourceIp: '::1' }, 0, '0:0:0:0::/64'],
  ])('is %s', (_, of, hops, expected) => {
    expect(sourceOf(of, hops)).toBe(expected);
  });

  test('is one for all addresses of an IPv6 /64, and another for each /64', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }),
        fc.nat(0xffff),
        (groups, other) => {
          const text = (of: number[]) => of.map((group) => group.toString(16)).join(':');
          fc.pre(!(groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff));
          const network = sourceOf({ sourceIp: text(groups) }, 0);
          expect(sourceOf({ sourceIp: text(groups.with(7, other)) }, 0)).toBe(network);
          fc.pre(groups[3] !== other);
          expect(sourceOf({ sourceIp: text(groups.with(3, other)) }, 0)).not.toBe(network);
        },
      ),
    );
  });

  test('is made of any header without a fault, and never of what stands left of the trusted hops', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.ipV4(), (lie, client) => {
        const forwardedFor = `${lie}, ${client}, ${peer}`;
        expect(sourceOf({ sourceIp: peer, forwardedFor }, 1)).toBe(client);
      }),
    );
  });
});
