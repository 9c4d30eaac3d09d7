import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StoredMail } from '../../infra/local/services/mailbox.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import type { Invitation } from '../../shared/identity/invitations/state.ts';
import { asStored, type Inviting, invitationOf, inviting, person } from './inviting.ts';
import { isDeployed, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let at: Inviting;

beforeAll(async () => {
  portico = await startPortico();
  at = inviting(portico);
});
afterAll(() => portico.stop());

if (!isDeployed) {
  describe('in parallel', () => {
    test('200 different invites all succeed', async () => {
      const bodies = Array.from({ length: 200 }, () => person());
      const answers = await Promise.all(bodies.map((body) => at.invite(body)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      for (const ids of [
        answers.map(({ json }) => json.id),
        answers.map(({ json }) => json.user.reference),
        answers.map(({ json }) => json.profile.reference),
      ]) {
        expect(new Set(ids).size).toBe(200);
      }
    });

    test('200 identical invites leave one User, one profile, one membership, one live link', async () => {
      const body = person({ sendEmail: true });
      const answers = await Promise.all(Array.from({ length: 200 }, () => at.invite(body)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
      expect(new Set(answers.map((answer) => invitationOf(answer).expires)).size).toBe(1);
      expect(countOf(await portico.local.scan(), body.email)).toEqual({ ...one, generations: [1] });
      const isHers = ({ to }: StoredMail) => to.includes(body.email);
      await portico.local.mailbox.waitFor(isHers, 20_000);
      await pause(300);
      expect((await portico.local.mailbox.list()).filter(isHers)).toHaveLength(1);
    });

    test('two different invites of one person: one wins, the other is refused, never a mix', async () => {
      const bodies = Array.from({ length: rounds }, () => person());
      const pairs = await Promise.all(
        bodies.map((body) =>
          Promise.all([at.invite({ ...body, admin: true }), at.invite({ ...body, resourceType: 'Patient' })]),
        ),
      );
      const items = await portico.local.scan();
      for (const [i, pair] of pairs.entries()) {
        expect(pair.map(({ status }) => status).sort()).toEqual([200, 409]);
        expect(countOf(items, bodies[i]?.email)).toEqual(one);
        const won = pair.find(({ status }) => status === 200);
        const stored = await portico.api('GET', `admin/projects/${at.project}/members/${won?.json.id}`);
        expect(stored.json).toEqual(asStored(won?.json));
      }
    });

    test('two invites that bind one profile: one wins', async () => {
      for (let round = 0; round < rounds; round++) {
        const profile = { reference: await at.create({ resourceType: 'Practitioner' }) };
        const answers = await Promise.all([at.invite(person({ profile })), at.invite(person({ profile }))]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      }
    });
  });
}

const rounds = 5;
const one = { users: 1, profiles: 1, memberships: 1, people: 1, generations: [1] };

/** What the table holds of an address, over all Projects. */
function countOf(items: readonly Item[], email = 'none') {
  const heads = items.filter(({ sk, deleted }) => sk === 'HEAD' && deleted !== true);
  const having = (pattern: RegExp) =>
    heads.filter(({ pk, content }) => pattern.test(pk) && String(content ?? '').includes(email)).length;
  const memberships = heads.filter(
    ({ pk, login }) => /#ProjectMembership#/.test(pk) && login === `E:${email}`,
  );
  return {
    users: having(/^U#/),
    profiles: having(/^P#[^#]+#(Patient|Practitioner|RelatedPerson)#/),
    memberships: memberships.length,
    people: heads.filter(({ pk }) => pk.endsWith(`#PERSON#E:${email}`)).length,
    generations: memberships.map(({ invitation }) => (invitation as Invitation).generation),
  };
}
