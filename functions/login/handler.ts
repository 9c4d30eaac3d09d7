import { coreServices } from '../../shared/core-services.ts';
import { requireVariable } from '../../shared/env.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { authenticated, type LambdaHandler, lambdaHandler, open } from '../../shared/http/endpoint.ts';
import { allOk } from '../../shared/http/outcome.ts';
import { fhirResponse, jsonResponse, redirectResponse } from '../../shared/http/response.ts';
import { openIssuerWeb } from '../../shared/issuer/issuer-web.ts';
import { openIssuers } from '../../shared/issuer/issuers.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { routes } from '../routes.ts';
import { authorize } from './authorize.ts';
import { changePassword } from './change-password.ts';
import { chooseProfile } from './choose-profile.ts';
import { finishExternal } from './finish-external.ts';
import { disableMfa, enrollMfa, readMfaStatus } from './own-mfa.ts';
import { readMe } from './read-me.ts';
import { readUserInfo } from './read-user-info.ts';
import { resetPassword } from './reset-password.ts';
import { revokeLogin } from './revoke-login.ts';
import { setPassword } from './set-password.ts';
import { signIn } from './sign-in.ts';
import { signOut } from './sign-out.ts';
import { acceptExternal, type ExternalServices, startExternal } from './start-external.ts';
import { verifyEmail } from './verify-email.ts';
import { enrollMfaInLogin, verifyMfa } from './verify-mfa.ts';

const core = coreServices(process.env);
const keys = stageKeys(requireVariable(process.env, 'KEYS'), core.table);
const services: ExternalServices = {
  ...core,
  secret: keys.secret,
  issuers: openIssuers(openIssuerWeb(core), core.now),
};

export const handler = dispatch({
  [routeKey(routes.authorize)]: lambdaHandler(
    services,
    open(routes.authorize, 'raw', (request) => authorize(services, request.query), redirectResponse),
  ),
  [routeKey(routes.me)]: lambdaHandler(
    services,
    authenticated(
      routes.me,
      'raw',
      (caller) => readMe(services, caller),
      (me) => jsonResponse(200, me),
    ),
  ),
  [routeKey(routes.userInfo)]: userInfo(routes.userInfo),
  [routeKey(routes.userInfoByPost)]: userInfo(routes.userInfoByPost),
  [routeKey(routes.login)]: lambdaHandler(
    services,
    open(
      routes.login,
      'json',
      (request) => signIn(services, { body: request.json, sourceIp: request.sourceIp }),
      (login) => jsonResponse(200, login),
    ),
  ),
  [routeKey(routes.verifyEmail)]: lambdaHandler(
    services,
    open(
      routes.verifyEmail,
      'json',
      (request) => verifyEmail(services, request.json),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.chooseProfile)]: lambdaHandler(
    services,
    open(
      routes.chooseProfile,
      'json',
      (request) => chooseProfile(services, request.json),
      (login) => jsonResponse(200, login),
    ),
  ),
  [routeKey(routes.signOut)]: lambdaHandler(
    services,
    authenticated(
      routes.signOut,
      'raw',
      (caller) => signOut(services, caller),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.revokeLogin)]: lambdaHandler(
    services,
    authenticated(
      routes.revokeLogin,
      'json',
      (caller, { json }) => revokeLogin(services, caller, json),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.mfaStatus)]: lambdaHandler(
    services,
    authenticated(
      routes.mfaStatus,
      'raw',
      (caller) => readMfaStatus(services, caller),
      (status) => jsonResponse(200, status),
    ),
  ),
  [routeKey(routes.enrollMfa)]: lambdaHandler(
    services,
    authenticated(
      routes.enrollMfa,
      'json',
      (caller, { json }) => enrollMfa(services, caller, json),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.disableMfa)]: lambdaHandler(
    services,
    authenticated(
      routes.disableMfa,
      'json',
      (caller, { json }) => disableMfa(services, caller, json),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.verifyMfa)]: lambdaHandler(
    services,
    open(
      routes.verifyMfa,
      'json',
      ({ json }) => verifyMfa(services, json),
      (step) => jsonResponse(200, step),
    ),
  ),
  [routeKey(routes.enrollMfaInLogin)]: lambdaHandler(
    services,
    open(
      routes.enrollMfaInLogin,
      'json',
      ({ json }) => enrollMfaInLogin(services, json),
      (step) => jsonResponse(200, step),
    ),
  ),
  [routeKey(routes.changePassword)]: lambdaHandler(
    services,
    authenticated(
      routes.changePassword,
      'json',
      (caller, { json, sourceIp }) => changePassword(services, caller, { body: json, sourceIp }),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.resetPassword)]: lambdaHandler(
    services,
    open(
      routes.resetPassword,
      'json',
      ({ json, sourceIp }) => resetPassword(services, { body: json, sourceIp }),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.setPassword)]: lambdaHandler(
    services,
    open(
      routes.setPassword,
      'json',
      (request) => setPassword(services, { body: request.json, sourceIp: request.sourceIp }),
      () => fhirResponse(200, allOk()),
    ),
  ),
  [routeKey(routes.startExternal)]: lambdaHandler(
    services,
    open(
      routes.startExternal,
      'raw',
      (request) => startExternal(services, request.query),
      ({ location, cookie }) => ({ ...redirectResponse(location), cookies: [cookie] }),
    ),
  ),
  [routeKey(routes.acceptExternal)]: lambdaHandler(
    services,
    open(
      routes.acceptExternal,
      'json',
      (request) => acceptExternal(services, request.json),
      ({ location, cookie }) => ({ ...jsonResponse(200, { location }), cookies: [cookie] }),
    ),
  ),
  [routeKey(routes.finishExternal)]: lambdaHandler(
    services,
    open(
      routes.finishExternal,
      'raw',
      (request) =>
        finishExternal(services, {
          issuerId: request.param('issuerId'),
          query: request.query,
          cookie: request.cookie,
        }),
      ({ location, cookie }) => ({ ...redirectResponse(location), cookies: [cookie] }),
    ),
  ),
});

function userInfo(row: { access: 'token' }): LambdaHandler {
  return lambdaHandler(
    services,
    authenticated(
      row,
      'raw',
      (caller) => readUserInfo(services, caller),
      (info) => jsonResponse(200, info),
    ),
  );
}
