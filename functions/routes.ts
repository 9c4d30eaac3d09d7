import type { Row, Rows } from '../shared/http/row.ts';
import { typedKeys } from '../shared/typed-keys.ts';

/**
 * The API on one page, data only: by function, then by the name of the route. A row says who may call:
 * anybody (`open`: the route checks credentials of its own, or needs none), a member of a Project, or an
 * administrator of it. Paths are those of an API Gateway HTTP API. CDK, the local gateway, `serve` and the
 * tests read it.
 */
const open = row('public');
const member = row('member');
const admin = row('administrator');

export const routes = {
  token: {
    token: open('POST', '/oauth2/token'),
    jwks: open('GET', '/.well-known/jwks.json'),
    openidConfiguration: open('GET', '/.well-known/openid-configuration'),
    authorizationServer: open('GET', '/.well-known/oauth-authorization-server'),
    smartConfiguration: open('GET', '/.well-known/smart-configuration'),
    fhirSmartConfiguration: open('GET', '/fhir/R4/.well-known/smart-configuration'),
    introspect: open('POST', '/oauth2/introspect'),
    revoke: open('POST', '/oauth2/revoke'),
    endSession: open('GET', '/oauth2/end-session'),
    endSessionByPost: open('POST', '/oauth2/end-session'),
  },
  login: {
    userInfo: member('GET', '/oauth2/userinfo'),
    userInfoByPost: member('POST', '/oauth2/userinfo'),
    authorize: open('GET', '/oauth2/authorize'),
    me: member('GET', '/auth/me'),
    login: open('POST', '/auth/login'),
    method: open('POST', '/auth/method'),
    clientInfo: open('GET', '/auth/clientinfo/{clientId}'),
    chooseProfile: open('POST', '/auth/profile'),
    switchProject: member('POST', '/auth/switch'),
    takeEmergency: member('POST', '/auth/emergency'),
    endOwnEmergency: member('DELETE', '/auth/emergency'),
    signOut: member('POST', '/oauth2/logout'),
    revokeLogin: member('POST', '/auth/revoke'),
    mfaStatus: member('GET', '/auth/mfa/status'),
    enrollMfa: member('POST', '/auth/mfa/enroll'),
    disableMfa: member('POST', '/auth/mfa/disable'),
    renewRecoveryCodes: member('POST', '/auth/mfa/recovery-codes'),
    verifyMfa: open('POST', '/auth/mfa/verify'),
    enrollMfaInLogin: open('POST', '/auth/mfa/login-enroll'),
    changePassword: member('POST', '/auth/changepassword'),
    resetPassword: open('POST', '/auth/resetpassword'),
    invitation: open('POST', '/auth/invitation'),
    setPassword: open('POST', '/auth/setpassword'),
    startExternal: open('GET', '/auth/external/start'),
    acceptExternal: open('POST', '/auth/external/accept'),
    finishExternal: open('GET', '/auth/external/{issuerId}'),
    verifyEmail: open('POST', '/auth/verifyemail'),
  },
  members: {
    project: admin('GET', '/admin/projects/{projectId}'),
    changeProject: admin('POST', '/admin/projects/{projectId}'),
    member: admin('GET', '/admin/projects/{projectId}/members/{membershipId}'),
    members: admin('GET', '/admin/projects/{projectId}/members'),
    changeMember: admin('POST', '/admin/projects/{projectId}/members/{membershipId}'),
    removeMember: member('DELETE', '/admin/projects/{projectId}/members/{membershipId}'),
    resendInvitation: admin('POST', '/admin/projects/{projectId}/members/{membershipId}/invitation'),
    revokeInvitation: admin('DELETE', '/admin/projects/{projectId}/members/{membershipId}/invitation'),
    endEmergency: admin('DELETE', '/admin/projects/{projectId}/members/{membershipId}/emergency'),
    setMemberPassword: admin('POST', '/admin/projects/{projectId}/setpassword'),
    setPasswordInOwnProject: admin('POST', '/admin/projects/setpassword'),
    createClient: admin('POST', '/admin/projects/{projectId}/client'),
    client: admin('GET', '/admin/projects/{projectId}/client/{clientId}'),
    changeClient: admin('POST', '/admin/projects/{projectId}/client/{clientId}'),
    rotateSecret: admin('POST', '/admin/projects/{projectId}/client/{clientId}/secret'),
    issuers: admin('GET', '/admin/projects/{projectId}/issuers'),
    addIssuer: admin('POST', '/admin/projects/{projectId}/issuers'),
    testIssuer: admin('POST', '/admin/projects/{projectId}/issuers/{issuerId}/test'),
    removeIssuer: admin('DELETE', '/admin/projects/{projectId}/issuers/{issuerId}'),
  },
  invite: {
    invite: admin('POST', '/admin/projects/{projectId}/invite'),
    inviteMany: admin('POST', '/admin/projects/{projectId}/invite/bulk'),
  },
  bots: {
    createBot: admin('POST', '/admin/projects/{projectId}/bot'),
    failures: admin('GET', '/admin/projects/{projectId}/failures'),
    fetchHosts: admin('GET', '/admin/projects/{projectId}/fetch-hosts'),
    changeFetchHosts: admin('POST', '/admin/projects/{projectId}/fetch-hosts'),
    projectSecrets: admin('GET', '/admin/projects/{projectId}/secrets'),
    changeProjectSecrets: admin('POST', '/admin/projects/{projectId}/secrets'),
    botSecrets: admin('GET', '/admin/projects/{projectId}/bot/{botId}/secrets'),
    changeBotSecrets: admin('POST', '/admin/projects/{projectId}/bot/{botId}/secrets'),
    deployBot: admin('POST', '/fhir/R4/Bot/{id}/$deploy'),
    rollBackBot: admin('POST', '/fhir/R4/Bot/{id}/$rollback'),
    botLogs: admin('GET', '/fhir/R4/Bot/{id}/$logs'),
    botVersions: admin('GET', '/fhir/R4/Bot/{id}/$versions'),
    botCode: admin('GET', '/fhir/R4/Bot/{id}/$code'),
    botFigures: admin('GET', '/fhir/R4/Bot/{id}/$figures'),
  },
  subscriptions: {
    deliveries: admin('GET', '/fhir/R4/Subscription/{id}/$deliveries'),
    redeliver: admin('POST', '/fhir/R4/Subscription/{id}/$redeliver'),
    resend: admin('POST', '/fhir/R4/{resourceType}/{id}/$resend'),
  },
  'execute-by-id': {
    executeById: member('POST', '/fhir/R4/Bot/{id}/$execute'),
  },
  'execute-by-identifier': {
    executeByIdentifier: member('POST', '/fhir/R4/Bot/$execute'),
  },
  resources: {
    jobStatus: member('GET', '/fhir/R4/job/{id}/status'),
    cancelJob: member('DELETE', '/fhir/R4/job/{id}/status'),
    runStatus: member('GET', '/fhir/R4/run/{id}/status'),
    cancelRun: member('DELETE', '/fhir/R4/run/{id}'),
    export: member('GET', '/fhir/R4/$export'),
    exportByPost: member('POST', '/fhir/R4/$export'),
    exportStatus: member('GET', '/fhir/R4/bulkdata/export/{id}'),
    cancelExport: member('DELETE', '/fhir/R4/bulkdata/export/{id}'),
    exportFile: member('GET', '/fhir/R4/bulkdata/export/{id}/{file}'),
    metadata: open('GET', '/fhir/R4/metadata'),
    bundle: member('POST', '/fhir/R4'),
    searchTypes: member('GET', '/fhir/R4'),
    searchTypesByPost: member('POST', '/fhir/R4/_search'),
    search: member('GET', '/fhir/R4/{resourceType}'),
    searchCompartment: member('GET', '/fhir/R4/Patient/{id}/{resourceType}'),
    searchCompartmentByPost: member('POST', '/fhir/R4/Patient/{id}/{resourceType}/_search'),
    create: member('POST', '/fhir/R4/{resourceType}'),
    conditionalUpdate: member('PUT', '/fhir/R4/{resourceType}'),
    conditionalPatch: member('PATCH', '/fhir/R4/{resourceType}'),
    conditionalDelete: member('DELETE', '/fhir/R4/{resourceType}'),
    searchByPost: member('POST', '/fhir/R4/{resourceType}/_search'),
    systemHistory: member('GET', '/fhir/R4/_history'),
    typeHistory: member('GET', '/fhir/R4/{resourceType}/_history'),
    read: member('GET', '/fhir/R4/{resourceType}/{id}'),
    update: member('PUT', '/fhir/R4/{resourceType}/{id}'),
    patch: member('PATCH', '/fhir/R4/{resourceType}/{id}'),
    delete: member('DELETE', '/fhir/R4/{resourceType}/{id}'),
    history: member('GET', '/fhir/R4/{resourceType}/{id}/_history'),
    everything: member('GET', '/fhir/R4/Patient/{id}/$everything'),
    everythingByPost: member('POST', '/fhir/R4/Patient/{id}/$everything'),
    explain: admin('POST', '/fhir/R4/ProjectMembership/{id}/$explain'),
    validate: member('POST', '/fhir/R4/{resourceType}/$validate'),
    validateNext: member('POST', '/fhir/R4/{resourceType}/{id}/$validate'),
    readVersion: member('GET', '/fhir/R4/{resourceType}/{id}/_history/{versionId}'),
    unknown: open('ANY', '$default'),
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

function row<const Access extends Row['access']>(access: Access) {
  return <const Method extends Row['method'], const Path extends string>(method: Method, path: Path) => ({
    method,
    path,
    access,
  });
}
