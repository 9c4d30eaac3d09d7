import { requireVariable } from '../../shared/base/env.ts';
import { json } from '../../shared/carry/http/request.ts';
import { answered, done, jsonResponse } from '../../shared/carry/http/response.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import { endOwnEmergency, takeEmergency } from '../../shared/identity/sign-in/emergency.ts';
import {
  reauthenticate,
  reauthenticateExternal,
  switchProject,
} from '../../shared/identity/sign-in/own-login.ts';
import {
  disableMfa,
  enrollMfa,
  readMfaStatus,
  renewRecoveryCodes,
} from '../../shared/identity/sign-in/own-mfa.ts';
import { changePassword } from '../../shared/identity/sign-in/passwords.ts';
import type { AccountServices } from '../../shared/identity/sign-in/proof.ts';
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
  me: ({ caller }) => answered(readMe(services, caller)),
  userInfo: ({ caller }) => answered(readUserInfo(services, caller)),
  userInfoByPost: ({ caller }) => answered(readUserInfo(services, caller)),
  switchProject: json(({ caller, body }) => answered(switchProject(services, caller, body))),
  takeEmergency: json(({ caller, body, source }) =>
    answered(takeEmergency(services, caller, { body, source })),
  ),
  endOwnEmergency: ({ caller }) => done(endOwnEmergency(services, caller)),
  reauthenticate: json(({ caller, body, source }) =>
    answered(reauthenticate(services, caller, { body, source })),
  ),
  reauthenticateExternal: json(async ({ caller, body }) => {
    const { location, cookie } = await reauthenticateExternal(services, caller, body);
    return { ...jsonResponse(200, { location }), cookies: [cookie] };
  }),
  signOut: ({ caller }) => done(signOut(services, caller)),
  revokeLogin: json(({ caller, body }) => done(revokeLogin(services, caller, body))),
  mfaStatus: ({ caller }) => answered(readMfaStatus(services, caller)),
  enrollMfa: json(({ caller, body }) => answered(enrollMfa(services, caller, body))),
  disableMfa: json(({ caller, body }) => done(disableMfa(services, caller, body))),
  renewRecoveryCodes: json(({ caller, body }) => answered(renewRecoveryCodes(services, caller, body))),
  changePassword: json(({ caller, body, source }) =>
    done(changePassword(services, caller, { body, source })),
  ),
}));
