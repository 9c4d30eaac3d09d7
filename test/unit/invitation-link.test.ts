import { describe, expect, test } from '@jest/globals';
import { invitationLink, isLinkSecret, linkSecret, linkUrl } from '../../shared/identity/sign-in/links.ts';
import fc from '../setup/fast-check.ts';
import { ringOf } from '../setup/key-rings.ts';

const ring = ringOf(Buffer.alloc(32, 7));
const link = { project: 'p1', membershipId: 'm1', generation: 1, expiresAtMs: 1_000_000 };
const part = fc.string({ unit: fc.constantFrom(...'ab12-.'), minLength: 1, maxLength: 8 });
const anyLink = fc.record({
  project: part,
  membershipId: part,
  generation: fc.nat(),
  expiresAtMs: fc.nat(),
});

describe('the secret of an invitation', () => {
  test('is good for its own link', async () => {
    await fc.assert(
      fc.asyncProperty(anyLink, async (one) => {
        expect(
          await isLinkSecret(ring, invitationLink(one), await linkSecret(ring, invitationLink(one))),
        ).toBe(true);
      }),
    );
  });

  test('is another one for every other link and every other stage', async () => {
    await fc.assert(
      fc.asyncProperty(anyLink, anyLink, async (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(
          await isLinkSecret(ring, invitationLink(other), await linkSecret(ring, invitationLink(one))),
        ).toBe(false);
      }),
    );
    expect(
      await isLinkSecret(
        ringOf(Buffer.alloc(32, 8)),
        invitationLink(link),
        await linkSecret(ring, invitationLink(link)),
      ),
    ).toBe(false);
  });

  test.each([
    ['a new generation', { generation: 2 }],
    ['a later end', { expiresAtMs: 1_000_001 }],
    ['another membership', { membershipId: 'm2' }],
    ['another Project', { project: 'p2' }],
    ['parts that only join to the same text', { project: 'p1m', membershipId: '1' }],
  ])('does not fit %s', async (_, change) => {
    expect(
      await isLinkSecret(
        ring,
        invitationLink({ ...link, ...change }),
        await linkSecret(ring, invitationLink(link)),
      ),
    ).toBe(false);
  });

  test('is refused in every other form without an error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (given) => {
        expect(await isLinkSecret(ring, invitationLink(link), given)).toBe(false);
      }),
    );
    const secret = await linkSecret(ring, invitationLink(link));
    for (const given of ['', secret.slice(1), `${secret}=`, `${secret} `, secret.toUpperCase()]) {
      expect(await isLinkSecret(ring, invitationLink(link), given)).toBe(false);
    }
  });

  test('stands in the fragment of the link only, beside the id', async () => {
    const url = new URL(await linkUrl('https://portico.example', ring, invitationLink(link)));
    expect(`${url.origin}${url.pathname}${url.search}`).toBe('https://portico.example/app/accept');
    const fragment = new URLSearchParams(url.hash.slice(1));
    expect(Object.fromEntries(fragment)).toEqual({
      id: invitationLink(link).id,
      secret: await linkSecret(ring, invitationLink(link)),
    });
  });
});
