/**
 * The API on one page, data only. Four readers: CDK, the local gateway, the handlers, and a test
 * that every route has a spec. Paths are those of an API Gateway HTTP API.
 */

export type FunctionName =
  | 'invite'
  | 'execute-by-id'
  | 'execute-by-identifier'
  | 'token'
  | 'login'
  | 'members'
  | 'bots'
  | 'resources'
  | 'site';

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ANY';
  path: string;
  function: FunctionName;
  /** `public` routes check their own credentials, `token` routes want a Bearer access token. */
  access: 'public' | 'token';
}

export const routes = {
  token: { method: 'POST', path: '/oauth2/token', function: 'token', access: 'public' },
  jwks: { method: 'GET', path: '/.well-known/jwks.json', function: 'token', access: 'public' },
  openidConfiguration: {
    method: 'GET',
    path: '/.well-known/openid-configuration',
    function: 'token',
    access: 'public',
  },
  authorizationServer: {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    function: 'token',
    access: 'public',
  },
  smartConfiguration: {
    method: 'GET',
    path: '/.well-known/smart-configuration',
    function: 'token',
    access: 'public',
  },
  fhirSmartConfiguration: {
    method: 'GET',
    path: '/fhir/R4/.well-known/smart-configuration',
    function: 'token',
    access: 'public',
  },
  introspect: { method: 'POST', path: '/oauth2/introspect', function: 'token', access: 'public' },
  userInfo: { method: 'GET', path: '/oauth2/userinfo', function: 'login', access: 'token' },
  userInfoByPost: { method: 'POST', path: '/oauth2/userinfo', function: 'login', access: 'token' },
  authorize: { method: 'GET', path: '/oauth2/authorize', function: 'login', access: 'public' },
  me: { method: 'GET', path: '/auth/me', function: 'login', access: 'token' },
  login: { method: 'POST', path: '/auth/login', function: 'login', access: 'public' },
  chooseProfile: { method: 'POST', path: '/auth/profile', function: 'login', access: 'public' },
  signOut: { method: 'POST', path: '/oauth2/logout', function: 'login', access: 'token' },
  revokeLogin: { method: 'POST', path: '/auth/revoke', function: 'login', access: 'token' },
  mfaStatus: { method: 'GET', path: '/auth/mfa/status', function: 'login', access: 'token' },
  enrollMfa: { method: 'POST', path: '/auth/mfa/enroll', function: 'login', access: 'token' },
  disableMfa: { method: 'POST', path: '/auth/mfa/disable', function: 'login', access: 'token' },
  verifyMfa: { method: 'POST', path: '/auth/mfa/verify', function: 'login', access: 'public' },
  enrollMfaInLogin: { method: 'POST', path: '/auth/mfa/login-enroll', function: 'login', access: 'public' },
  changePassword: { method: 'POST', path: '/auth/changepassword', function: 'login', access: 'token' },
  resetPassword: { method: 'POST', path: '/auth/resetpassword', function: 'login', access: 'public' },
  setPassword: { method: 'POST', path: '/auth/setpassword', function: 'login', access: 'public' },
  startExternal: { method: 'GET', path: '/auth/external/start', function: 'login', access: 'public' },
  acceptExternal: { method: 'POST', path: '/auth/external/accept', function: 'login', access: 'public' },
  finishExternal: { method: 'GET', path: '/auth/external/{issuerId}', function: 'login', access: 'public' },

  verifyEmail: { method: 'POST', path: '/auth/verifyemail', function: 'login', access: 'public' },

  project: { method: 'GET', path: '/admin/projects/{projectId}', function: 'members', access: 'token' },
  invite: {
    method: 'POST',
    path: '/admin/projects/{projectId}/invite',
    function: 'invite',
    access: 'token',
  },
  inviteMany: {
    method: 'POST',
    path: '/admin/projects/{projectId}/invite/bulk',
    function: 'invite',
    access: 'token',
  },
  member: {
    method: 'GET',
    path: '/admin/projects/{projectId}/members/{membershipId}',
    function: 'members',
    access: 'token',
  },
  members: {
    method: 'GET',
    path: '/admin/projects/{projectId}/members',
    function: 'members',
    access: 'token',
  },
  changeMember: {
    method: 'POST',
    path: '/admin/projects/{projectId}/members/{membershipId}',
    function: 'members',
    access: 'token',
  },
  removeMember: {
    method: 'DELETE',
    path: '/admin/projects/{projectId}/members/{membershipId}',
    function: 'members',
    access: 'token',
  },
  resendInvitation: {
    method: 'POST',
    path: '/admin/projects/{projectId}/members/{membershipId}/invitation',
    function: 'members',
    access: 'token',
  },
  revokeInvitation: {
    method: 'DELETE',
    path: '/admin/projects/{projectId}/members/{membershipId}/invitation',
    function: 'members',
    access: 'token',
  },
  setMemberPassword: {
    method: 'POST',
    path: '/admin/projects/{projectId}/setpassword',
    function: 'members',
    access: 'token',
  },
  setPasswordInOwnProject: {
    method: 'POST',
    path: '/admin/projects/setpassword',
    function: 'members',
    access: 'token',
  },
  createClient: {
    method: 'POST',
    path: '/admin/projects/{projectId}/client',
    function: 'members',
    access: 'token',
  },
  rotateSecret: {
    method: 'POST',
    path: '/admin/projects/{projectId}/client/{clientId}/secret',
    function: 'members',
    access: 'token',
  },
  issuers: {
    method: 'GET',
    path: '/admin/projects/{projectId}/issuers',
    function: 'members',
    access: 'token',
  },
  addIssuer: {
    method: 'POST',
    path: '/admin/projects/{projectId}/issuers',
    function: 'members',
    access: 'token',
  },
  removeIssuer: {
    method: 'DELETE',
    path: '/admin/projects/{projectId}/issuers/{issuerId}',
    function: 'members',
    access: 'token',
  },
  createBot: {
    method: 'POST',
    path: '/admin/projects/{projectId}/bot',
    function: 'bots',
    access: 'token',
  },
  fetchHosts: {
    method: 'GET',
    path: '/admin/projects/{projectId}/fetch-hosts',
    function: 'bots',
    access: 'token',
  },
  changeFetchHosts: {
    method: 'POST',
    path: '/admin/projects/{projectId}/fetch-hosts',
    function: 'bots',
    access: 'token',
  },
  projectSecrets: {
    method: 'GET',
    path: '/admin/projects/{projectId}/secrets',
    function: 'bots',
    access: 'token',
  },
  changeProjectSecrets: {
    method: 'POST',
    path: '/admin/projects/{projectId}/secrets',
    function: 'bots',
    access: 'token',
  },
  botSecrets: {
    method: 'GET',
    path: '/admin/projects/{projectId}/bot/{botId}/secrets',
    function: 'bots',
    access: 'token',
  },
  changeBotSecrets: {
    method: 'POST',
    path: '/admin/projects/{projectId}/bot/{botId}/secrets',
    function: 'bots',
    access: 'token',
  },

  executeById: {
    method: 'POST',
    path: '/fhir/R4/Bot/{id}/$execute',
    function: 'execute-by-id',
    access: 'token',
  },
  executeByIdentifier: {
    method: 'POST',
    path: '/fhir/R4/Bot/$execute',
    function: 'execute-by-identifier',
    access: 'token',
  },
  deployBot: { method: 'POST', path: '/fhir/R4/Bot/{id}/$deploy', function: 'bots', access: 'token' },
  rollBackBot: { method: 'POST', path: '/fhir/R4/Bot/{id}/$rollback', function: 'bots', access: 'token' },
  botLogs: { method: 'GET', path: '/fhir/R4/Bot/{id}/$logs', function: 'bots', access: 'token' },
  botVersions: { method: 'GET', path: '/fhir/R4/Bot/{id}/$versions', function: 'bots', access: 'token' },

  jobStatus: { method: 'GET', path: '/fhir/R4/job/{id}/status', function: 'resources', access: 'token' },
  cancelJob: { method: 'DELETE', path: '/fhir/R4/job/{id}/status', function: 'resources', access: 'token' },

  metadata: { method: 'GET', path: '/fhir/R4/metadata', function: 'resources', access: 'public' },
  bundle: { method: 'POST', path: '/fhir/R4', function: 'resources', access: 'token' },
  search: { method: 'GET', path: '/fhir/R4/{resourceType}', function: 'resources', access: 'token' },
  create: { method: 'POST', path: '/fhir/R4/{resourceType}', function: 'resources', access: 'token' },
  conditionalUpdate: {
    method: 'PUT',
    path: '/fhir/R4/{resourceType}',
    function: 'resources',
    access: 'token',
  },
  conditionalPatch: {
    method: 'PATCH',
    path: '/fhir/R4/{resourceType}',
    function: 'resources',
    access: 'token',
  },
  conditionalDelete: {
    method: 'DELETE',
    path: '/fhir/R4/{resourceType}',
    function: 'resources',
    access: 'token',
  },
  searchByPost: {
    method: 'POST',
    path: '/fhir/R4/{resourceType}/_search',
    function: 'resources',
    access: 'token',
  },
  typeHistory: {
    method: 'GET',
    path: '/fhir/R4/{resourceType}/_history',
    function: 'resources',
    access: 'token',
  },
  read: { method: 'GET', path: '/fhir/R4/{resourceType}/{id}', function: 'resources', access: 'token' },
  update: { method: 'PUT', path: '/fhir/R4/{resourceType}/{id}', function: 'resources', access: 'token' },
  patch: { method: 'PATCH', path: '/fhir/R4/{resourceType}/{id}', function: 'resources', access: 'token' },
  delete: { method: 'DELETE', path: '/fhir/R4/{resourceType}/{id}', function: 'resources', access: 'token' },
  history: {
    method: 'GET',
    path: '/fhir/R4/{resourceType}/{id}/_history',
    function: 'resources',
    access: 'token',
  },
  everything: {
    method: 'GET',
    path: '/fhir/R4/Patient/{id}/$everything',
    function: 'resources',
    access: 'token',
  },
  readVersion: {
    method: 'GET',
    path: '/fhir/R4/{resourceType}/{id}/_history/{versionId}',
    function: 'resources',
    access: 'token',
  },

  app: { method: 'GET', path: '/app', function: 'site', access: 'public' },
  appFile: { method: 'GET', path: '/app/{path+}', function: 'site', access: 'public' },

  unknown: { method: 'ANY', path: '$default', function: 'resources', access: 'public' },
} as const satisfies Record<string, Route>;
