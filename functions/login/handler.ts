import { coreServices } from '../../shared/core-services.ts';
import { requireVariable } from '../../shared/env.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { authenticated, type LambdaHandler, lambdaHandler, open } from '../../shared/http/endpoint.ts';
import { allOk } from '../../shared/http/outcome.ts';
import { fhirResponse, jsonResponse, redirectResponse } from '../../shared/http/response.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { routes } from '../routes.ts';
import { authorize } from './authorize.ts';
import { changePassword } from './change-password.ts';
import { chooseProfile } from './choose-profile.ts';
import type { LoginServices } from './invitation-of-link.ts';
import { readMe } from './read-me.ts';
import { readUserInfo } from './read-user-info.ts';
import { resetPassword } from './reset-password.ts';
import { setPassword } from './set-password.ts';
import { signIn } from './sign-in.ts';
import { signOut } from './sign-out.ts';

const core = coreServices(process.env);
const keys = stageKeys(requireVariable(process.env, 'KEYS'), core.table);
const services: LoginServices = { ...core, secret: keys.secret };

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
