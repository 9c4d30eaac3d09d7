import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mailedLink, mailedReset } from './mailed-link.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { newAddress, password, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

function expectTooCommon({ status, json }: Answer, field = 'password') {
  expect([status, json.issue]).toEqual([
    400,
    [
      {
        severity: 'error',
        code: 'invalid',
        details: { text: 'Password is on lists of common or breached passwords: choose another' },
        expression: [field],
      },
    ],
  ]);
}

describe.each(['password', 'aaaaaaaa', 'Password123!', 'qwertyuiop'])(
  'the password %s is refused',
  (common) => {
    test('by who accepts an invitation, whose link stays good', async () => {
      const email = newAddress();
      await at.invite(email);
      const link = await mailedLink(portico, email);
      expectTooCommon(await at.post('auth/setpassword', { ...link, password: common }));
      expect((await at.post('auth/setpassword', { ...link, password })).status).toBe(200);
    });

    test('by who changes it or has forgotten it, and the old one stays', async () => {
      const { email } = await at.newMember();
      const { access_token } = await at.signIn(email);
      const body = { oldPassword: password, newPassword: common };
      expectTooCommon(await at.post('auth/changepassword', body, access_token), 'newPassword');
      await at.post('auth/resetpassword', { email });
      const link = await mailedReset(portico, email);
      expectTooCommon(await at.post('auth/setpassword', { ...link, password: common }));
      expect((await at.login(email)).status).toBe(200);
    });

    test('by administrators, for people of their Project only', async () => {
      const path = `admin/projects/${portico.projects[0]?.id}/invite`;
      const body = {
        resourceType: 'Patient',
        firstName: 'A',
        lastName: 'B',
        scope: 'project',
        sendEmail: false,
      };
      const email = newAddress();
      expectTooCommon(await portico.api('POST', path, { body: { ...body, email, password: common } }));
      expect((await portico.api('POST', path, { body: { ...body, email, password } })).status).toBe(200);
      const set = { body: { email, password: common } };
      expectTooCommon(await portico.api('POST', 'admin/projects/setpassword', set));
    });
  },
);

test('so is the own address', async () => {
  const email = newAddress();
  await at.invite(email);
  const link = await mailedLink(portico, email);
  expectTooCommon(await at.post('auth/setpassword', { ...link, password: email.toUpperCase() }));
});
