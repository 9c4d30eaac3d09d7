import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { countVariable, requireVariable } from '../../shared/env.ts';
import { callerIfAny } from '../../shared/http/authentication.ts';
import { json } from '../../shared/http/json-body.ts';
import type { HttpRequest } from '../../shared/http/request.ts';
import { done, jsonResponse, redirectResponse } from '../../shared/http/response.ts';
import { serve } from '../../shared/http/serve.ts';
import { sourceOf } from '../../shared/http/source.ts';
import { openIssuerWeb } from '../../shared/issuer/issuer-web.ts';
import { openIssuers } from '../../shared/issuer/issuers.ts';
import { routes } from '../routes.ts';
import { verifyEmail } from './address/verify-email.ts';
import { endOwnEmergency } from './emergency/end-own-emergency.ts';
import { takeEmergency } from './emergency/take-emergency.ts';
import { finishExternal } from './external/finish-external.ts';
import { readInvitation } from './external/read-invitation.ts';
import { acceptExternal, type ExternalServices, startExternal } from './external/start-external.ts';
import { changePassword } from './password/change-password.ts';
import { resetPassword } from './password/reset-password.ts';
import { setPassword } from './password/set-password.ts';
import { disableMfa, enrollMfa, readMfaStatus, renewRecoveryCodes } from './second-factor/own-mfa.ts';
import { enrollMfaInLogin, verifyMfa } from './second-factor/verify-mfa.ts';
import { readMe } from './session/read-me.ts';
import { readUserInfo } from './session/read-user-info.ts';
import { revokeLogin } from './session/revoke-login.ts';
import { signOut } from './session/sign-out.ts';
import { authorize } from './sign-in/authorize.ts';
import { chooseProfile } from './sign-in/choose-profile.ts';
import { readClientInfo } from './sign-in/read-client-info.ts';
import { readMethod } from './sign-in/read-method.ts';
import { signIn } from './sign-in/sign-in.ts';
import { switchProject } from './sign-in/switch-project.ts';

const core = coreServices(process.env);
const trustedHops = countVariable(process.env, 'TRUSTED_HOPS');
const { keyRings } = stageKeys(requireVariable(process.env, 'KEYS'), core.table, [
  'run-token',
  'invitation-link',
  'reset-link',
  'address-link',
  'totp',
  'drafts',
  'issuer-secret',
  'external-sign-in',
]);
const services: ExternalServices = {
  ...core,
  keyRings,
  runTokenKeys: keyRings['run-token'],
  issuers: openIssuers(openIssuerWeb(core), core.now),
};

type AttemptRequest = Pick<HttpRequest, 'sourceIp' | 'headers'> & { body: unknown };

export const handler = serve(services, routes.login, (services) => ({
  authorize: async ({ query }) => redirectResponse(await authorize(services, query)),
  login: json(async (request) => jsonResponse(200, await signIn(services, attempt(request)))),
  method: json(async ({ body }) => jsonResponse(200, readMethod(body))),
  clientInfo: async ({ params: { clientId } }) => jsonResponse(200, await readClientInfo(services, clientId)),
  chooseProfile: json(async ({ body }) => jsonResponse(200, await chooseProfile(services, body))),
  verifyMfa: json(async ({ body }) => jsonResponse(200, await verifyMfa(services, body))),
  enrollMfaInLogin: json(async ({ body }) => jsonResponse(200, await enrollMfaInLogin(services, body))),
  resetPassword: json((request) => done(resetPassword(services, attempt(request)))),
  invitation: json(async ({ body }) => jsonResponse(200, await readInvitation(services, body))),
  setPassword: json((request) => done(setPassword(services, attempt(request)))),
  verifyEmail: json(async (request) =>
    done(verifyEmail(services, { ...attempt(request), caller: await callerIfAny(services, request) })),
  ),

  me: async ({ caller }) => jsonResponse(200, await readMe(services, caller)),
  userInfo: async ({ caller }) => jsonResponse(200, await readUserInfo(services, caller)),
  userInfoByPost: async ({ caller }) => jsonResponse(200, await readUserInfo(services, caller)),
  switchProject: json(async ({ caller, body }) =>
    jsonResponse(200, await switchProject(services, caller, body)),
  ),
  takeEmergency: json(async ({ caller, body }) =>
    jsonResponse(200, await takeEmergency(services, caller, body)),
  ),
  endOwnEmergency: ({ caller }) => done(endOwnEmergency(services, caller)),
  signOut: ({ caller }) => done(signOut(services, caller)),
  revokeLogin: json(({ caller, body }) => done(revokeLogin(services, caller, body))),
  mfaStatus: async ({ caller }) => jsonResponse(200, await readMfaStatus(services, caller)),
  enrollMfa: json(async ({ caller, body }) => jsonResponse(200, await enrollMfa(services, caller, body))),
  disableMfa: json(({ caller, body }) => done(disableMfa(services, caller, body))),
  renewRecoveryCodes: json(async ({ caller, body }) =>
    jsonResponse(200, await renewRecoveryCodes(services, caller, body)),
  ),
  changePassword: json((request) => done(changePassword(services, request.caller, attempt(request)))),

  startExternal: async ({ query }) => {
    const { location, cookie } = await startExternal(services, query);
    return { ...redirectResponse(location), cookies: [cookie] };
  },
  acceptExternal: json(async ({ body }) => {
    const { location, cookie } = await acceptExternal(services, body);
    return { ...jsonResponse(200, { location }), cookies: [cookie] };
  }),
  finishExternal: async ({ params: { issuerId }, query, cookie: given }) => {
    const { location, cookie } = await finishExternal(services, { issuerId, query, cookie: given });
    return { ...redirectResponse(location), cookies: [cookie] };
  },
}));

/** What is tried, and by whom attempts are counted. */
function attempt({ body, sourceIp, headers }: AttemptRequest): { body: unknown; source: string } {
  return { body, source: sourceOf({ sourceIp, forwardedFor: headers['x-forwarded-for'] }, trustedHops) };
}
