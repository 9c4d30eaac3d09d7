import { requireVariable } from '../../shared/base/env.ts';
import { json } from '../../shared/carry/http/request.ts';
import { done, jsonResponse } from '../../shared/carry/http/response.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import type { AccountServices } from '../../shared/identity/sign-in/account-services.ts';
import { endOwnEmergency, takeEmergency } from '../../shared/identity/sign-in/emergency.ts';
import {
  disableMfa,
  enrollMfa,
  readMfaStatus,
  renewRecoveryCodes,
} from '../../shared/identity/sign-in/own-mfa.ts';
import { changePassword } from '../../shared/identity/sign-in/passwords.ts';
import {
  reauthenticate,
  reauthenticateExternal,
} from '../../shared/identity/sign-in/session/reauthenticate.ts';
import { switchProject } from '../../shared/identity/sign-in/session/switch-project.ts';
import { readMe, readUserInfo, revokeLogin, signOut } from '../../shared/identity/sign-in/session.ts';
import { routes } from '../routes.ts';

const core = coreServices(process.env, 'account');
const { keyRings } = stageKeys(requireVariable(process.env, 'KEYS'), core.table, [
  'run-token',
  'totp',
  'drafts',
  'external-sign-in',
]);
const services: AccountServices = {
  ...core,
  keyRings,
  runTokenKeys: keyRings['run-token'],
  issuers: openIssuers(openIssuerWeb(core), core.now),
};

/** Only for who is signed in: whatever nobody in particular asks of `login` leaves it alone. */
export const handler = serve(services, routes.account, (services) => ({
  me: async ({ caller }) => jsonResponse(200, await readMe(services, caller)),
  userInfo: async ({ caller }) => jsonResponse(200, await readUserInfo(services, caller)),
  userInfoByPost: async ({ caller }) => jsonResponse(200, await readUserInfo(services, caller)),
  switchProject: json(async ({ caller, body }) =>
    jsonResponse(200, await switchProject(services, caller, body)),
  ),
  takeEmergency: json(async ({ caller, body, source }) =>
    jsonResponse(200, await takeEmergency(services, caller, { body, source })),
  ),
  endOwnEmergency: ({ caller }) => done(endOwnEmergency(services, caller)),
  reauthenticate: json(async ({ caller, body, source }) =>
    jsonResponse(200, await reauthenticate(services, caller, { body, source })),
  ),
  reauthenticateExternal: json(async ({ caller, body }) => {
    const { location, cookie } = await reauthenticateExternal(services, caller, body);
    return { ...jsonResponse(200, { location }), cookies: [cookie] };
  }),
  signOut: ({ caller }) => done(signOut(services, caller)),
  revokeLogin: json(({ caller, body }) => done(revokeLogin(services, caller, body))),
  mfaStatus: async ({ caller }) => jsonResponse(200, await readMfaStatus(services, caller)),
  enrollMfa: json(async ({ caller, body }) => jsonResponse(200, await enrollMfa(services, caller, body))),
  disableMfa: json(({ caller, body }) => done(disableMfa(services, caller, body))),
  renewRecoveryCodes: json(async ({ caller, body }) =>
    jsonResponse(200, await renewRecoveryCodes(services, caller, body)),
  ),
  changePassword: json(({ caller, body, source }) =>
    done(changePassword(services, caller, { body, source })),
  ),
}));
