import { type TOTP, URI } from 'otpauth';
import type { ExampleGround } from '../../spec/calling-routes.ts';
import { mailedConfirmation, mailedLink, mailedReset, mailedUndo } from '../../spec/mailed-link.ts';
import { newPerson, type TestPerson, tokenOf } from '../../spec/people.ts';
import type { Example } from '../../spec/route-examples.ts';
import { createClient, execute } from '../../spec/running.ts';
import { codeVerifier, newAddress, password, pkce, signingIn } from '../../spec/signing-in.ts';
import { put } from '../../spec/subscribing.ts';
import { exportedId } from './exporting.ts';
import { followUp } from './follow-up.ts';
import { runTokenOf } from './run-token-of.ts';
import type { StillStack } from './still-stack.ts';

/** The functions whose routes these are. */
export const deeperFunctions = [
  ...(['token', 'login', 'account', 'members', 'invite', 'execute-by-id', 'resources'] as const),
];
export type DeeperName = `${(typeof deeperFunctions)[number]}.${string}`;

/** An example, sent with this token: the administrator's when left out, none when null. */
export type Deeper = Example & {
  token?: string | null;
  /** What is sent by who asks again, where that is not the same. */
  bodyAgain?: unknown;
};

/** Routes of which only the clear no of their example is tried: they want an issuer, or say no alone. */
export const onlyNo: readonly string[] = [
  ...['startExternal', 'acceptExternal', 'finishExternal'].map((name) => `login.${name}`),
  ...['login.enrollMfaInLogin', 'account.takeEmergency', 'account.reauthenticateExternal'],
  ...['addIssuer', 'testIssuer', 'removeIssuer', 'setPasswordInOwnProject'].map((name) => `members.${name}`),
  ...['subscriptions.redeliver', 'resources.runStatus', 'resources.exportByPost'],
  ...['resources.unknown', 'site.appFile'],
];

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const fhir = { 'content-type': 'application/fhir+json' };
const phrase = 'another phrase of many words 7';

/** What routes do beyond their first examples, many of which are a clear no: by function and name, and what it is. */
export function deeperExamples(
  stack: StillStack,
  { portico, bot, person }: ExampleGround,
): Readonly<Record<DeeperName, () => Promise<Deeper>>> {
  const at = signingIn(portico);
  const project = String(portico.projects[0]?.id);
  const granting = (parameters: Record<string, string>) => ({
    body: `${new URLSearchParams(parameters)}`,
    ...{ headers: form, token: null, status: 200 },
  });
  const asked = async (method: string, path: string, body?: unknown, token?: string) =>
    (await portico.api(method, path, { body, ...(token ? { token } : {}) })).json;
  const invited = async (): Promise<{ email: string; id: string }> => {
    const email = newAddress();
    return { email, id: (await at.invite(email)).id };
  };
  const withResource = (resourceType: string, more: object = {}) => put(portico, { resourceType, ...more });
  const query = async () => {
    const value = newAddress();
    const identifier = [{ system: 'urn:deeper', value }];
    await withResource('Patient', { identifier });
    return { identifier: `urn:deeper|${value}` };
  };

  /** Somebody new with a second factor, and what their phone shows. */
  async function enrolled(): Promise<{ who: TestPerson; token: string; code(later?: number): string }> {
    const who = await newPerson(portico);
    const token = await tokenOf(portico, who);
    const { enrollUri } = await asked('GET', 'auth/mfa/status', undefined, token);
    const totp = URI.parse(enrollUri) as TOTP;
    const code = (later: number) => totp.generate({ timestamp: Date.now() + later * 30_000 });
    await asked('POST', 'auth/mfa/enroll', { token: code(-1) }, token);
    return { who, token, code: (later = 0) => code(later) };
  }

  /** Somebody new who is to confirm another address. */
  async function moving() {
    const who = await newPerson(portico);
    const token = await tokenOf(portico, who);
    const email = newAddress();
    const { userId: id } = who;
    const body = { resourceType: 'User', id, firstName: 'Ann', lastName: 'Lee', email };
    await asked('PUT', `fhir/R4/User/${id}`, body, token);
    return { who, token, link: { ...(await mailedConfirmation(portico, email)) } };
  }

  return {
    'token.token by code': async () => {
      const { code } = (await at.login(person.email)).json;
      return granting({ grant_type: 'authorization_code', code, code_verifier: codeVerifier });
    },
    'token.token by refresh token': async () => {
      const { refresh_token } = await at.signIn(person.email, { scope: 'openid offline_access' });
      return granting({ grant_type: 'refresh_token', client_id: '', refresh_token });
    },
    'token.revoke of a token': async () => {
      const { token } = await createClient(portico);
      const { clientId = '', clientSecret = '' } = portico.projects[0] ?? {};
      return granting({ token, client_id: clientId, client_secret: clientSecret });
    },
    'login.setPassword of an invitation': async () => {
      const { email } = await invited();
      return { token: null, body: { ...(await mailedLink(portico, email)), password }, status: 200 };
    },
    'login.setPassword of a reset': async () => {
      await at.post('auth/resetpassword', { email: person.email });
      const link = await mailedReset(portico, person.email);
      return { token: null, body: { ...link, password: phrase }, status: 200 };
    },
    'login.invitation that stands': async () => {
      const { email } = await invited();
      return { token: null, body: { ...(await mailedLink(portico, email)) }, status: 200 };
    },
    'login.resetPassword of somebody': async () => ({
      ...{ token: null, body: { email: person.email }, status: 200 },
    }),
    'login.verifyEmail of a new address': async () => {
      const { token, link } = await moving();
      return { token, body: link, status: 200 };
    },
    'login.undoAddress of one that was left': async () => {
      const { who, token, link } = await moving();
      await asked('POST', 'auth/verifyemail', link, token);
      return { token: null, body: { ...(await mailedUndo(portico, who.email)) }, status: 200 };
    },
    'login.chooseProfile of two': async () => {
      await at.invite(person.email, 1);
      const { login, memberships } = (await at.login(person.email)).json;
      return { token: null, body: { login, profile: memberships[0].id }, status: 200 };
    },
    'account.switchProject of a person': async () => {
      await at.invite(person.email, 1);
      const { access_token: token } = await at.signIn(person.email, { projectId: project });
      return { token, body: pkce, status: 200 };
    },
    'account.enrollMfa rightly': async () => {
      const token = await tokenOf(portico, person);
      const { enrollUri } = await asked('GET', 'auth/mfa/status', undefined, token);
      return { token, body: { token: (URI.parse(enrollUri) as TOTP).generate() }, status: 200 };
    },
    'account.disableMfa rightly': async () => {
      const { token, code } = await enrolled();
      return { token, body: { token: code() }, status: 200 };
    },
    'account.renewRecoveryCodes rightly': async () => {
      const { token, code } = await enrolled();
      return { token, body: { token: code() }, status: 200 };
    },
    'login.verifyMfa rightly': async () => {
      const { who, code } = await enrolled();
      const { login } = (await at.login(who.email)).json;
      // A code may have been spent although what followed failed: the next one is shown then.
      const bodyAgain = { login, token: code(1) };
      return { token: null, body: { login, token: code() }, bodyAgain, status: 200 };
    },
    'account.revokeLogin of the own': async () => {
      const token = await tokenOf(portico, person);
      const me = await asked('GET', 'auth/me', undefined, token);
      const { id: loginId } = me.security.sessions.find(({ current }: { current: boolean }) => current);
      return { token, body: { loginId }, status: 200 };
    },
    'members.setMemberPassword of a member': async () => {
      const email = newAddress();
      await at.invite(email, 0, { scope: 'project' });
      return { body: { email, password: phrase }, status: 200 };
    },
    'members.changeMember to an administrator': async () => ({
      ...{ params: { membershipId: person.membershipId }, body: { admin: true }, status: 200 },
    }),
    'members.removeMember who has joined': async () => ({
      ...{ params: { membershipId: person.membershipId }, status: 200 },
    }),
    'members.changeProject really': async () => ({ body: { senderName: 'The ward' }, status: 200 }),
    'members.changeClient really': async () => ({
      params: { clientId: (await createClient(portico)).id },
      ...{ body: { expires: '2031-01-31T12:00:00Z' }, status: 200 },
    }),
    'invite.invite with a mail': async () => ({
      body: { resourceType: 'Patient', firstName: 'Ann', lastName: 'Lee', email: newAddress() },
      status: 200,
    }),
    'invite.inviteMany of two': async () => ({
      body: [newAddress(), newAddress()].map((email) => ({
        ...{ resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', email },
      })),
      status: 200,
    }),
    'execute-by-id.executeById for nobody who waits': async () => ({
      ...{ params: { id: bot }, body: 'hello', status: 202 },
      headers: { 'content-type': 'text/plain', prefer: 'respond-async' },
    }),
    'execute-by-id.executeById once, with a secret': async () => {
      await asked('POST', `admin/projects/${project}/bot/${bot}/secrets`, [{ name: 's', valueString: 'x' }]);
      const headers = { 'content-type': 'text/plain', 'idempotency-key': newAddress() };
      return { params: { id: bot }, body: 'hello', headers, status: 200 };
    },
    'resources.cancelJob that waits': async () => {
      await execute(portico, bot, 'x', 'text/plain', { headers: { prefer: 'respond-async' } });
      return { params: { id: String(stack.jobs.at(-1)?.jobId) }, status: 202 };
    },
    'resources.exportStatus of one': async () => ({
      ...{ params: { id: await exportedId(portico) }, status: 202 },
    }),
    'resources.cancelExport of one': async () => ({
      ...{ params: { id: await exportedId(portico) }, status: 202 },
    }),
    'resources.exportFile of one': async () => {
      await withResource('Patient');
      let id = '';
      const event = await followUp(stack, 'exports', async () => {
        id = await exportedId(portico);
      });
      await (await stack.load('export'))(event);
      const { output } = await asked('GET', `fhir/R4/bulkdata/export/${id}`);
      return { params: { id, file: String(output[0].url).split('/').at(-1) ?? '' }, status: 200 };
    },
    'resources.bundle as a transaction': async () => ({
      headers: fhir,
      status: 200,
      body: {
        ...{ resourceType: 'Bundle', type: 'transaction' },
        entry: ['Patient', 'Organization', 'Location'].map((resourceType) => ({
          resource: { resourceType, name: resourceType === 'Patient' ? [] : 'Ward' },
          request: {
            method: 'POST',
            url: resourceType,
            ifNoneExist: `identifier=urn:deeper|${newAddress()}`,
          },
        })),
      },
    }),
    'resources.bundle as a batch': async () => {
      const { id } = await withResource('Patient');
      const body = { resourceType: 'Patient', id, gender: 'female' };
      const entry = [
        { request: { method: 'GET', url: `Patient/${id}` } },
        { resource: body, request: { method: 'PUT', url: `Patient/${id}` } },
      ];
      return { headers: fhir, status: 200, body: { resourceType: 'Bundle', type: 'batch', entry } };
    },
    'resources.create under a condition': async () => ({
      ...{ params: { resourceType: 'Patient' }, body: { resourceType: 'Patient' }, status: 201 },
      headers: { ...fhir, 'if-none-exist': `identifier=urn:deeper|${newAddress()}` },
    }),
    'resources.create of something large': async () => ({
      ...{ params: { resourceType: 'CodeSystem' }, headers: fhir, status: 201 },
      body: {
        ...{ resourceType: 'CodeSystem', status: 'active', content: 'complete' },
        concept: Array.from({ length: 120 }, (_, n) => ({ code: `code-${n}` })),
      },
    }),
    'resources.update that changes': async () => {
      const { id } = await withResource('Patient');
      const body = { resourceType: 'Patient', id, gender: 'female' };
      return { params: { resourceType: 'Patient', id }, body, headers: fhir, status: 200 };
    },
    'resources.conditionalPatch of one': async () => ({
      ...{ params: { resourceType: 'Patient' }, query: await query(), status: 200 },
      body: [{ op: 'add', path: '/active', value: true }],
      headers: { 'content-type': 'application/json-patch+json' },
    }),
    'resources.conditionalDelete of one': async () => ({
      ...{ params: { resourceType: 'Patient' }, query: await query(), status: 200 },
    }),
    'resources.readVersion that was, to a Bot': async () => {
      const { id, meta } = await withResource('Patient');
      const token = await runTokenOf(stack, portico, bot);
      return { token, params: { resourceType: 'Patient', id, versionId: meta.versionId }, status: 200 };
    },
  };
}
