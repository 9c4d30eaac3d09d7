import { describe, expect, test } from '@jest/globals';
import {
  type InvitationLink,
  invitationSecret,
  invitationUrl,
  isInvitationSecret,
  linkId,
} from '../../shared/invitation/link.ts';
import fc from '../setup/fast-check.ts';

const stage = Buffer.alloc(32, 7);
const link: InvitationLink = { project: 'p1', membershipId: 'm1', generation: 1, expiresAtMs: 1_000_000 };
const part = fc.string({ unit: fc.constantFrom(...'ab12-.'), minLength: 1, maxLength: 8 });
const anyLink = fc.record({
  project: part,
  membershipId: part,
  generation: fc.nat(),
  expiresAtMs: fc.nat(),
});

describe('the secret of an invitation', () => {
  test('is good for its own link', () => {
    fc.assert(
      fc.property(anyLink, (one) => {
        expect(isInvitationSecret(stage, one, invitationSecret(stage, one))).toBe(true);
      }),
    );
  });

  test('is another one for every other link and every other stage', () => {
    fc.assert(
      fc.property(anyLink, anyLink, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(isInvitationSecret(stage, other, invitationSecret(stage, one))).toBe(false);
      }),
    );
    expect(isInvitationSecret(Buffer.alloc(32, 8), link, invitationSecret(stage, link))).toBe(false);
  });

  test.each([
    ['a new generation', { generation: 2 }],
    ['a later end', { expiresAtMs: 1_000_001 }],
    ['another membership', { membershipId: 'm2' }],
    ['another Project', { project: 'p2' }],
    ['parts that only join to the same text', { project: 'p1m', membershipId: '1' }],
  ])('does not fit %s', (_, change) => {
    expect(isInvitationSecret(stage, { ...link, ...change }, invitationSecret(stage, link))).toBe(false);
  });

  test('is refused in every other form without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (given) => {
        expect(isInvitationSecret(stage, link, given)).toBe(false);
      }),
    );
    const secret = invitationSecret(stage, link);
    for (const given of ['', secret.slice(1), `${secret}=`, `${secret} `, secret.toUpperCase()]) {
      expect(isInvitationSecret(stage, link, given)).toBe(false);
    }
  });

  test('stands in the fragment of the link only, beside the id', () => {
    const url = new URL(invitationUrl('https://portico.example', stage, link));
    expect(`${url.origin}${url.pathname}${url.search}`).toBe('https://portico.example/app/accept');
    const fragment = new URLSearchParams(url.hash.slice(1));
    expect(Object.fromEntries(fragment)).toEqual({ id: linkId(link), secret: invitationSecret(stage, link) });
  });
});
