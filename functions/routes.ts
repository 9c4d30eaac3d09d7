import { typedKeys } from '../shared/base/values.ts';
import type { Bounds, Row, Rows, SignInRule } from '../shared/carry/http/routes.ts';

/**
 * The API on one page, data only: by function, then by the name of the route. A row says who may call:
 * anybody (`open`: the route checks credentials of its own, or needs none), a member of a Project, or an
 * administrator of it; and, unless it is a GET, how lately they must have signed in. One that administers or writes
 * says what keeps it within its caller's rights (docs/access-policies.md). Paths are those of an API Gateway HTTP API.
 * CDK, the local gateway, `serve` and the tests read it.
 */
const open = row('public');
const member = row('member');
const admin = row('administrator');

/** Takes no account, and gives nobody anything. */
const harmless = { signIn: 'any', bounds: 'none' } as const;
const bare = { ...harmless, body: 'none' } as const;

export const routes = {
  token: {
    token: open('POST', '/oauth2/token', { signIn: 'any' }),
    jwks: open('GET', '/.well-known/jwks.json'),
    openidConfiguration: open('GET', '/.well-known/openid-configuration'),
    authorizationServer: open('GET', '/.well-known/oauth-authorization-server'),
    smartConfiguration: open('GET', '/.well-known/smart-configuration'),
    fhirSmartConfiguration: open('GET', '/fhir/R4/.well-known/smart-configuration'),
    introspect: open('POST', '/oauth2/introspect', { signIn: 'any' }),
    revoke: open('POST', '/oauth2/revoke', { signIn: 'any' }),
    endSession: open('GET', '/oauth2/end-session'),
    endSessionByPost: open('POST', '/oauth2/end-session', { signIn: 'any' }),
  },
  login: {
    authorize: open('GET', '/oauth2/authorize'),
    login: open('POST', '/auth/login', { signIn: 'shown' }),
    method: open('POST', '/auth/method', { signIn: 'any' }),
    clientInfo: open('GET', '/auth/clientinfo/{clientId}'),
    chooseProfile: open('POST', '/auth/profile', { signIn: 'any' }),
    verifyMfa: open('POST', '/auth/mfa/verify', { signIn: 'shown' }),
    enrollMfaInLogin: open('POST', '/auth/mfa/login-enroll', { signIn: 'depends' }),
    resetPassword: open('POST', '/auth/resetpassword', { signIn: 'any' }),
    invitation: open('POST', '/auth/invitation', { signIn: 'any' }),
    setPassword: open('POST', '/auth/setpassword', { signIn: 'shown' }),
    startExternal: open('GET', '/auth/external/start'),
    acceptExternal: open('POST', '/auth/external/accept', { signIn: 'any' }),
    finishExternal: open('GET', '/auth/external/{issuerId}'),
    verifyEmail: open('POST', '/auth/verifyemail', { signIn: 'depends' }),
    undoAddress: open('POST', '/auth/undoaddress', { signIn: 'shown' }),
  },
  account: {
    userInfo: member('GET', '/oauth2/userinfo'),
    userInfoByPost: member('POST', '/oauth2/userinfo', bare),
    me: member('GET', '/auth/me'),
    switchProject: member('POST', '/auth/switch', harmless),
    takeEmergency: member('POST', '/auth/emergency', { signIn: 'depends', bounds: 'none' }),
    endOwnEmergency: member('DELETE', '/auth/emergency', harmless),
    reauthenticate: member('POST', '/auth/reauthenticate', { signIn: 'shown', bounds: 'none' }),
    reauthenticateExternal: member('POST', '/auth/external/reauthenticate', harmless),
    signOut: member('POST', '/oauth2/logout', bare),
    revokeLogin: member('POST', '/auth/revoke', { signIn: 'depends', bounds: 'none' }),
    mfaStatus: member('GET', '/auth/mfa/status', { signIn: 'depends', bounds: 'none' }),
    enrollMfa: member('POST', '/auth/mfa/enroll', { signIn: 'recent', bounds: 'none' }),
    disableMfa: member('POST', '/auth/mfa/disable', { signIn: 'shown', bounds: 'none' }),
    renewRecoveryCodes: member('POST', '/auth/mfa/recovery-codes', { signIn: 'shown', bounds: 'none' }),
    changePassword: member('POST', '/auth/changepassword', { signIn: 'shown', bounds: 'none' }),
  },
  members: {
    project: admin('GET', '/admin/projects/{projectId}', { bounds: 'none' }),
    changeProject: admin('POST', '/admin/projects/{projectId}', { signIn: 'any', bounds: 'root' }),
    member: admin('GET', '/admin/projects/{projectId}/members/{membershipId}', { bounds: 'none' }),
    members: admin('GET', '/admin/projects/{projectId}/members', { bounds: 'none' }),
    changeMember: admin('POST', '/admin/projects/{projectId}/members/{membershipId}', {
      signIn: 'depends',
      bounds: 'own rights',
    }),
    removeMember: member('DELETE', '/admin/projects/{projectId}/members/{membershipId}', harmless),
    resendInvitation: admin('POST', '/admin/projects/{projectId}/members/{membershipId}/invitation', {
      signIn: 'any',
      bounds: 'own rights',
      body: 'none',
    }),
    revokeInvitation: admin(
      'DELETE',
      '/admin/projects/{projectId}/members/{membershipId}/invitation',
      harmless,
    ),
    endEmergency: admin('DELETE', '/admin/projects/{projectId}/members/{membershipId}/emergency', harmless),
    setMemberPassword: admin('POST', '/admin/projects/{projectId}/setpassword', {
      signIn: 'recent',
      bounds: 'root',
    }),
    setPasswordInOwnProject: admin('POST', '/admin/projects/setpassword', {
      signIn: 'recent',
      bounds: 'root',
    }),
    createClient: admin('POST', '/admin/projects/{projectId}/client', {
      signIn: 'recent',
      bounds: 'own rights',
    }),
    client: admin('GET', '/admin/projects/{projectId}/client/{clientId}', { bounds: 'none' }),
    changeClient: admin('POST', '/admin/projects/{projectId}/client/{clientId}', {
      signIn: 'recent',
      bounds: 'own rights',
    }),
    rotateSecret: admin('POST', '/admin/projects/{projectId}/client/{clientId}/secret', {
      signIn: 'recent',
      bounds: 'own rights',
    }),
    issuers: admin('GET', '/admin/projects/{projectId}/issuers', { bounds: 'none' }),
    addIssuer: admin('POST', '/admin/projects/{projectId}/issuers', { signIn: 'recent', bounds: 'root' }),
    testIssuer: admin('POST', '/admin/projects/{projectId}/issuers/{issuerId}/test', bare),
    removeIssuer: admin('DELETE', '/admin/projects/{projectId}/issuers/{issuerId}', {
      signIn: 'recent',
      bounds: 'root',
    }),
  },
  invite: {
    invite: admin('POST', '/admin/projects/{projectId}/invite', { signIn: 'depends', bounds: 'own rights' }),
    inviteMany: admin('POST', '/admin/projects/{projectId}/invite/bulk', {
      signIn: 'depends',
      bounds: 'own rights',
    }),
  },
  bots: {
    createBot: admin('POST', '/admin/projects/{projectId}/bot', { signIn: 'any', bounds: 'own rights' }),
    failures: admin('GET', '/admin/projects/{projectId}/failures', { bounds: 'none' }),
    fetchHosts: admin('GET', '/admin/projects/{projectId}/fetch-hosts', { bounds: 'none' }),
    changeFetchHosts: admin('POST', '/admin/projects/{projectId}/fetch-hosts', {
      signIn: 'any',
      bounds: 'root',
    }),
    projectSecrets: admin('GET', '/admin/projects/{projectId}/secrets', { bounds: 'none' }),
    changeProjectSecrets: admin('POST', '/admin/projects/{projectId}/secrets', {
      signIn: 'any',
      bounds: 'root',
    }),
    botSecrets: admin('GET', '/admin/projects/{projectId}/bot/{botId}/secrets', { bounds: 'none' }),
    changeBotSecrets: admin('POST', '/admin/projects/{projectId}/bot/{botId}/secrets', {
      signIn: 'any',
      bounds: 'own rights',
    }),
    deployBot: admin('POST', '/fhir/R4/Bot/{id}/$deploy', { signIn: 'any', bounds: 'own rights' }),
    rollBackBot: admin('POST', '/fhir/R4/Bot/{id}/$rollback', { signIn: 'any', bounds: 'own rights' }),
    botLogs: admin('GET', '/fhir/R4/Bot/{id}/$logs', { bounds: 'own rights' }),
    botVersions: admin('GET', '/fhir/R4/Bot/{id}/$versions', { bounds: 'none' }),
    botCode: admin('GET', '/fhir/R4/Bot/{id}/$code', { bounds: 'none' }),
    botFigures: admin('GET', '/fhir/R4/Bot/{id}/$figures', { bounds: 'none' }),
  },
  subscriptions: {
    deliveries: admin('GET', '/fhir/R4/Subscription/{id}/$deliveries', { bounds: 'none' }),
    redeliver: admin('POST', '/fhir/R4/Subscription/{id}/$redeliver', { signIn: 'any', bounds: 'root' }),
    resend: admin('POST', '/fhir/R4/{resourceType}/{id}/$resend', { signIn: 'any', bounds: 'root' }),
  },
  'execute-by-id': {
    executeById: member('POST', '/fhir/R4/Bot/{id}/$execute', harmless),
  },
  'execute-by-identifier': {
    executeByIdentifier: member('POST', '/fhir/R4/Bot/$execute', harmless),
  },
  resources: {
    jobStatus: member('GET', '/fhir/R4/job/{id}/status'),
    cancelJob: member('DELETE', '/fhir/R4/job/{id}/status', harmless),
    runStatus: member('GET', '/fhir/R4/run/{id}/status'),
    cancelRun: member('DELETE', '/fhir/R4/run/{id}', harmless),
    export: member('GET', '/fhir/R4/$export'),
    exportByPost: member('POST', '/fhir/R4/$export', harmless),
    exportStatus: member('GET', '/fhir/R4/bulkdata/export/{id}'),
    cancelExport: member('DELETE', '/fhir/R4/bulkdata/export/{id}', harmless),
    exportFile: member('GET', '/fhir/R4/bulkdata/export/{id}/{file}'),
    metadata: open('GET', '/fhir/R4/metadata'),
    bundle: member('POST', '/fhir/R4', { signIn: 'depends', bounds: 'own rights' }),
    searchTypes: member('GET', '/fhir/R4'),
    searchTypesByPost: member('POST', '/fhir/R4/_search', harmless),
    search: member('GET', '/fhir/R4/{resourceType}'),
    searchCompartment: member('GET', '/fhir/R4/Patient/{id}/{resourceType}'),
    searchCompartmentByPost: member('POST', '/fhir/R4/Patient/{id}/{resourceType}/_search', harmless),
    create: member('POST', '/fhir/R4/{resourceType}', { signIn: 'any', bounds: 'own rights' }),
    conditionalUpdate: member('PUT', '/fhir/R4/{resourceType}', { signIn: 'depends', bounds: 'own rights' }),
    conditionalPatch: member('PATCH', '/fhir/R4/{resourceType}', { signIn: 'depends', bounds: 'own rights' }),
    conditionalDelete: member('DELETE', '/fhir/R4/{resourceType}', {
      signIn: 'depends',
      bounds: 'own rights',
    }),
    searchByPost: member('POST', '/fhir/R4/{resourceType}/_search', harmless),
    systemHistory: member('GET', '/fhir/R4/_history'),
    typeHistory: member('GET', '/fhir/R4/{resourceType}/_history'),
    read: member('GET', '/fhir/R4/{resourceType}/{id}'),
    update: member('PUT', '/fhir/R4/{resourceType}/{id}', { signIn: 'depends', bounds: 'own rights' }),
    patch: member('PATCH', '/fhir/R4/{resourceType}/{id}', { signIn: 'depends', bounds: 'own rights' }),
    delete: member('DELETE', '/fhir/R4/{resourceType}/{id}', { signIn: 'depends', bounds: 'own rights' }),
    history: member('GET', '/fhir/R4/{resourceType}/{id}/_history'),
    everything: member('GET', '/fhir/R4/Patient/{id}/$everything'),
    everythingByPost: member('POST', '/fhir/R4/Patient/{id}/$everything', harmless),
    explain: admin('POST', '/fhir/R4/ProjectMembership/{id}/$explain', harmless),
    validate: member('POST', '/fhir/R4/{resourceType}/$validate', harmless),
    validateNext: member('POST', '/fhir/R4/{resourceType}/{id}/$validate', harmless),
    readVersion: member('GET', '/fhir/R4/{resourceType}/{id}/_history/{versionId}'),
    unknown: open('ANY', '$default', { signIn: 'any' }),
  },
  site: {
    root: open('GET', '/'),
    app: open('GET', '/app'),
    appFile: open('GET', '/app/{path+}'),
    openapi: open('GET', '/openapi.json'),
  },
} satisfies Record<string, Rows>;

export type FunctionName = keyof typeof routes;

/** A row of the table with its place in it. */
export interface Route extends Row {
  name: string;
  function: FunctionName;
}

export const functionNames = typedKeys(routes);

export function routesOf(name: FunctionName): Route[] {
  return Object.entries<Row>(routes[name]).map(([route, row]) => ({ ...row, name: route, function: name }));
}

export const allRoutes: readonly Route[] = functionNames.flatMap(routesOf);

/** What a row says beside who may call. A route that is not public can be refused for its caller's sign-in. */
type Rules<Access extends Row['access']> = {
  /** Of a POST that takes none; a DELETE takes none either. */
  body?: 'none';
  signIn: Access extends 'public' ? Exclude<SignInRule, 'recent'> : SignInRule;
} & (Access extends 'public' ? unknown : { bounds: Bounds });

/** Of a GET: all may be left out, but not what an administrator's gives. */
type RulesOfReading<Access extends Row['access']> = Access extends 'administrator'
  ? [rules: Pick<Rules<Access>, 'bounds'> & Partial<Rules<Access>>]
  : [rules?: Partial<Rules<Access>>];

/** A route that administers or is no GET, and forgets its rules, does not compile. */
export function row<const Access extends Row['access']>(access: Access) {
  return <const Method extends Row['method'], const Path extends string>(
    method: Method,
    path: Path,
    ...[rules]: Method extends 'GET' ? RulesOfReading<Access> : [rules: Rules<Access>]
  ) => {
    const { signIn = 'any', bounds = 'none', body }: Partial<Row & { body: 'none' }> = rules ?? {};
    const isBare = method === 'DELETE' || body === 'none';
    return { method, path, access, signIn, bounds, isBare };
  };
}
