import type { routes } from '../../functions/routes.ts';
import type { ExampleGround } from './calling-routes.ts';
import type { Portico } from './portico.ts';
import { botThat, createBot, createClient, execute } from './running.ts';
import { newAddress, password, pkce } from './signing-in.ts';
import { newSubscription } from './subscribing.ts';

/** What calls each route rightly, and what it is answered then. */
export interface Example {
  /** Values of the path's parameters; the Project is the first one when left out. */
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
  /** Who calls a route that is not public; an administrator when left out. */
  as?: 'person' | 'another person';
  status: number;
}

export type Examples = {
  [Name in keyof typeof routes]: { [Route in keyof (typeof routes)[Name]]: () => Example | Promise<Example> };
};

export const identifier = { system: 'https://example.org/bots', value: 'every-route' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const fhir = { 'content-type': 'application/fhir+json' };
const noLink = { id: 'a.b', secret: 'c' };
const patient = { resourceType: 'Patient', gender: 'other' };
export const loginNobodyKnows = { login: '11111111-2222-4333-8444-555555555555' };
const secret = { name: 'API_KEY', valueString: 'correct horse' };

/** An example for each route: a route without one does not compile. */
export function routeExamples({ portico, person, bot, tokens }: ExampleGround): Examples {
  const clientOf = () => portico.projects[0] as Portico['projects'][number];
  const credentials = () => ({
    client_id: clientOf().clientId,
    client_secret: clientOf().clientSecret,
  });
  const inviteBody = () => ({
    resourceType: 'Practitioner',
    firstName: 'Ann',
    lastName: 'Lee',
    email: newAddress(),
    sendEmail: false,
  });

  async function pending(): Promise<string> {
    const path = `admin/projects/${clientOf().id}/invite`;
    return (await portico.api('POST', path, { body: inviteBody() })).json.id;
  }

  async function stored(): Promise<{ resourceType: string; id: string }> {
    const { json } = await portico.api('POST', 'fhir/R4/Patient', { body: patient, headers: fhir });
    return { resourceType: 'Patient', id: json.id };
  }

  async function subscription(): Promise<string> {
    const body = newSubscription('https://hooks.example.org/', 'Patient', { status: 'off' });
    return (await portico.api('POST', 'fhir/R4/Subscription', { body, headers: fhir })).json.id;
  }

  /** One that still runs when it is asked for. */
  async function job(): Promise<string> {
    const slow = await botThat(portico, 'await new Promise((r) => setTimeout(r, 10_000)); return 1');
    const answer = await execute(portico, slow, 'x', 'text/plain', { headers: { prefer: 'respond-async' } });
    return answer.headers.get('content-location')?.split('/').at(-2) ?? '';
  }

  async function issuer(): Promise<string> {
    const path = `admin/projects/${clientOf().id}/issuers`;
    const { json } = await portico.api('GET', path);
    return json.issuers[0]?.id ?? 'none';
  }

  return {
    token: {
      token: () => ({
        body: `${new URLSearchParams({ grant_type: 'client_credentials', ...credentials() })}`,
        headers: form,
        status: 200,
      }),
      introspect: () => ({
        body: `${new URLSearchParams({ token: tokens.member, ...credentials() })}`,
        headers: form,
        status: 200,
      }),
      revoke: () => ({
        body: `${new URLSearchParams({ token: 'unknown', ...credentials() })}`,
        headers: form,
        status: 200,
      }),
      endSession: () => ({ status: 302 }),
      endSessionByPost: () => ({ body: 'state=x', headers: form, status: 302 }),
      jwks: () => ({ status: 200 }),
      openidConfiguration: () => ({ status: 200 }),
      authorizationServer: () => ({ status: 200 }),
      smartConfiguration: () => ({ status: 200 }),
      fhirSmartConfiguration: () => ({ status: 200 }),
    },
    login: {
      authorize: () => ({
        query: {
          client_id: 'medplum-cli',
          redirect_uri: 'http://localhost:9615',
          response_type: 'code',
          scope: 'openid',
        },
        status: 302,
      }),
      login: () => ({ body: { email: person.email, password, clientId: '', ...pkce }, status: 200 }),
      method: () => ({ body: { email: newAddress() }, status: 200 }),
      clientInfo: () => ({ params: { clientId: clientOf().clientId }, status: 200 }),
      // A program has one Project only.
      chooseProfile: () => ({ body: { ...loginNobodyKnows, profile: person.membershipId }, status: 400 }),
      verifyMfa: () => ({ body: { ...loginNobodyKnows, token: '000000' }, status: 400 }),
      enrollMfaInLogin: () => ({ body: { ...loginNobodyKnows, token: '000000' }, status: 400 }),
      resetPassword: () => ({ body: { email: newAddress() }, status: 200 }),
      invitation: () => ({ body: noLink, status: 400 }),
      setPassword: () => ({ body: { ...noLink, password }, status: 400 }),
      startExternal: () => ({ query: { issuer: 'https://login.example.org' }, status: 400 }),
      acceptExternal: () => ({
        body: { ...noLink, redirectUri: '/app', codeChallenge: pkce.codeChallenge },
        status: 400,
      }),
      finishExternal: () => ({ params: { issuerId: 'none' }, status: 400 }),
      undoAddress: () => ({ body: noLink, status: 400 }),
      verifyEmail: () => ({ body: noLink, status: 400 }),
    },
    account: {
      userInfo: () => ({ as: 'person', status: 200 }),
      userInfoByPost: () => ({ as: 'person', status: 200 }),
      me: () => ({ status: 200 }),
      switchProject: () => ({ body: { codeChallenge: 'x'.repeat(43) }, status: 403 }),
      takeEmergency: () => ({ as: 'person', body: { reason: 'Unconscious in the corridor' }, status: 403 }),
      endOwnEmergency: () => ({ as: 'person', status: 200 }),
      reauthenticate: () => ({ as: 'person', body: { password }, status: 200 }),
      reauthenticateExternal: () => ({
        as: 'person',
        body: { redirectUri: `${portico.baseUrl}/app` },
        status: 400,
      }),
      signOut: () => ({ as: 'another person', status: 200 }),
      revokeLogin: () => ({ as: 'person', body: { loginId: loginNobodyKnows.login }, status: 404 }),
      mfaStatus: () => ({ as: 'person', status: 200 }),
      enrollMfa: () => ({ as: 'person', body: { token: '000000' }, status: 400 }),
      disableMfa: () => ({ as: 'person', body: { token: '000000' }, status: 400 }),
      renewRecoveryCodes: () => ({ as: 'person', body: { token: '000000' }, status: 400 }),
      changePassword: () => ({
        as: 'another person',
        body: { oldPassword: password, newPassword: `${password} again` },
        status: 200,
      }),
    },
    members: {
      project: () => ({ status: 200 }),
      member: () => ({ params: { membershipId: person.membershipId }, status: 200 }),
      changeProject: () => ({ body: {}, status: 200 }),
      members: () => ({ query: { _count: '2' }, status: 200 }),
      changeMember: () => ({ params: { membershipId: person.membershipId }, body: {}, status: 200 }),
      removeMember: async () => ({ params: { membershipId: await pending() }, status: 200 }),
      resendInvitation: async () => ({ params: { membershipId: await pending() }, status: 200 }),
      revokeInvitation: async () => ({ params: { membershipId: await pending() }, status: 200 }),
      endEmergency: () => ({ params: { membershipId: person.membershipId }, status: 200 }),
      setMemberPassword: () => ({ body: { email: newAddress(), password }, status: 404 }),
      setPasswordInOwnProject: () => ({ body: { email: newAddress(), password }, status: 404 }),
      createClient: () => ({ body: { name: 'Reader' }, status: 201 }),
      client: async () => ({ params: { clientId: (await createClient(portico)).id }, status: 200 }),
      changeClient: async () => ({
        params: { clientId: (await createClient(portico)).id },
        body: { expires: null },
        status: 200,
      }),
      rotateSecret: async () => ({ params: { clientId: (await createClient(portico)).id }, status: 200 }),
      issuers: () => ({ status: 200 }),
      // Nobody answers there: the port is the one of TCP's discard service.
      addIssuer: () => ({ body: { issuer: 'http://127.0.0.1:9', clientId: 'portico' }, status: 400 }),
      testIssuer: () => ({ params: { issuerId: 'none' }, status: 404 }),
      removeIssuer: async () => ({ params: { issuerId: await issuer() }, status: 404 }),
    },
    invite: {
      invite: () => ({ body: inviteBody(), status: 200 }),
      inviteMany: () => ({ body: [inviteBody()], status: 200 }),
    },
    bots: {
      createBot: () => ({ body: { name: 'Made' }, status: 201 }),
      failures: () => ({ status: 200 }),
      fetchHosts: () => ({ status: 200 }),
      changeFetchHosts: () => ({ body: { allow: ['example.org'] }, status: 200 }),
      projectSecrets: () => ({ status: 200 }),
      changeProjectSecrets: () => ({ body: [secret], status: 200 }),
      botSecrets: () => ({ params: { botId: bot }, status: 200 }),
      changeBotSecrets: () => ({ params: { botId: bot }, body: [secret], status: 200 }),
      deployBot: async () => ({
        params: { id: await createBot(portico) },
        body: { code: 'exports.handler = () => 1;' },
        status: 200,
      }),
      rollBackBot: async () => {
        const { json } = await portico.api('GET', `fhir/R4/Bot/${bot}/$versions`);
        const version = json.parameter[0].part[0].valueString;
        return { params: { id: bot }, body: { version }, status: 200 };
      },
      botLogs: () => ({ params: { id: bot }, status: 200 }),
      botVersions: () => ({ params: { id: bot }, status: 200 }),
      botCode: () => ({ params: { id: bot }, status: 200 }),
      botFigures: () => ({ params: { id: bot }, status: 200 }),
    },
    subscriptions: {
      deliveries: async () => ({ params: { id: await subscription() }, status: 200 }),
      redeliver: async () => ({
        params: { id: await subscription() },
        body: { delivery: '0'.repeat(40) },
        status: 404,
      }),
      resend: async () => ({ params: await stored(), status: 200 }),
    },
    'execute-by-id': {
      executeById: () => ({
        params: { id: bot },
        body: 'hello',
        headers: { 'content-type': 'text/plain' },
        status: 200,
      }),
    },
    'execute-by-identifier': {
      executeByIdentifier: () => ({
        query: { identifier: `${identifier.system}|${identifier.value}` },
        body: 'hello',
        headers: { 'content-type': 'text/plain' },
        status: 200,
      }),
    },
    resources: {
      export: () => ({ query: { _type: 'Patient' }, headers: { prefer: 'respond-async' }, status: 202 }),
      exportByPost: () => ({ status: 400 }),
      exportStatus: () => ({ params: { id: loginNobodyKnows.login }, status: 404 }),
      cancelExport: () => ({ params: { id: loginNobodyKnows.login }, status: 404 }),
      exportFile: () => ({ params: { id: loginNobodyKnows.login, file: 'Patient-1.ndjson' }, status: 404 }),
      jobStatus: async () => ({ params: { id: await job() }, status: 202 }),
      cancelJob: () => ({ params: { id: loginNobodyKnows.login }, status: 404 }),
      runStatus: () => ({ params: { id: loginNobodyKnows.login }, status: 404 }),
      cancelRun: () => ({ params: { id: loginNobodyKnows.login }, status: 202 }),
      metadata: () => ({ status: 200 }),
      bundle: () => ({
        body: { resourceType: 'Bundle', type: 'batch', entry: [] },
        headers: fhir,
        status: 200,
      }),
      search: () => ({ params: { resourceType: 'Patient' }, query: { _count: '1' }, status: 200 }),
      searchByPost: () => ({
        params: { resourceType: 'Patient' },
        body: '_count=1',
        headers: form,
        status: 200,
      }),
      create: () => ({ params: { resourceType: 'Patient' }, body: patient, headers: fhir, status: 201 }),
      conditionalUpdate: () => ({
        params: { resourceType: 'Patient' },
        query: { identifier: 'urn:every|1' },
        body: { ...patient, identifier: [{ system: 'urn:every', value: '1' }] },
        headers: fhir,
        status: 201,
      }),
      conditionalPatch: () => ({
        params: { resourceType: 'Patient' },
        query: { identifier: 'urn:every|none' },
        body: [{ op: 'add', path: '/active', value: true }],
        headers: { 'content-type': 'application/json-patch+json' },
        status: 404,
      }),
      conditionalDelete: () => ({
        params: { resourceType: 'Patient' },
        query: { identifier: 'urn:every|none' },
        status: 200,
      }),
      read: async () => ({ params: await stored(), status: 200 }),
      readVersion: async () => ({ params: { ...(await stored()), versionId: 'none' }, status: 404 }),
      update: async () => {
        const at = await stored();
        return { params: at, body: { ...patient, ...at }, headers: fhir, status: 200 };
      },
      patch: async () => ({
        params: await stored(),
        body: [{ op: 'add', path: '/active', value: true, from: '/ignored' }],
        headers: { 'content-type': 'application/json-patch+json' },
        status: 200,
      }),
      delete: async () => ({ params: await stored(), status: 200 }),
      history: async () => ({ params: await stored(), status: 200 }),
      typeHistory: () => ({ params: { resourceType: 'Patient' }, status: 200 }),
      everything: async () => ({ params: await stored(), status: 200 }),
      everythingByPost: async () => ({ params: await stored(), status: 200 }),
      explain: () => ({ params: { id: person.membershipId }, body: { search: 'Patient' }, status: 200 }),
      validate: () => ({ params: { resourceType: 'Patient' }, body: patient, headers: fhir, status: 200 }),
      validateNext: async () => ({ params: await stored(), body: patient, headers: fhir, status: 200 }),
      systemHistory: () => ({ query: { _count: '1' }, status: 200 }),
      searchTypes: () => ({ query: { _type: 'Patient,Basic', _count: '1' }, status: 200 }),
      searchTypesByPost: () => ({ body: '_type=Patient&_count=1', headers: form, status: 200 }),
      searchCompartment: async () => ({
        params: { ...(await stored()), resourceType: 'Basic' },
        status: 200,
      }),
      searchCompartmentByPost: async () => ({
        params: { ...(await stored()), resourceType: 'Basic' },
        body: '_count=1',
        headers: form,
        status: 200,
      }),
      unknown: () => ({ status: 404 }),
    },
    site: {
      root: () => ({ status: 302 }),
      app: () => ({ status: 200 }),
      appFile: () => ({ params: { path: 'none.js' }, status: 404 }),
      openapi: () => ({ status: 200 }),
    },
  };
}
