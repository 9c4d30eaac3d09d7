import { countVariable, requireVariable } from '../../shared/base/env.ts';
import { json } from '../../shared/carry/http/request.ts';
import { answered, done, jsonResponse, redirectResponse } from '../../shared/carry/http/response.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { callerIfAny, serve } from '../../shared/identity/gate/serve.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import type { SourceServices } from '../../shared/identity/sign-in/attempts.ts';
import { authorize, readClientInfo } from '../../shared/identity/sign-in/authorize.ts';
import { finishExternal } from '../../shared/identity/sign-in/external/finish-external.ts';
import {
  acceptExternal,
  type ExternalServices,
  startExternal,
} from '../../shared/identity/sign-in/external/start-external.ts';
import { readInvitation } from '../../shared/identity/sign-in/invitation-of-link.ts';
import { resetPassword, setPassword } from '../../shared/identity/sign-in/passwords.ts';
import { readMethod, signIn } from '../../shared/identity/sign-in/sign-in.ts';
import { chooseProfile, enrollMfaInLogin, verifyMfa } from '../../shared/identity/sign-in/sign-in-step.ts';
import { undoAddress } from '../../shared/identity/sign-in/undo-address.ts';
import { verifyEmail } from '../../shared/identity/sign-in/verify-email.ts';
import { routes } from '../routes.ts';

const core = coreServices(process.env, 'login');
const { keyRings } = stageKeys(requireVariable(process.env, 'KEYS'), core.table, [
  'invitation-link',
  'reset-link',
  'address-link',
  'totp',
  'issuer-secret',
  'external-sign-in',
  'known-sign-in',
]);
const services: ExternalServices & SourceServices = {
  ...core,
  failedAddresses: countVariable(process.env, 'FAILED_ADDRESSES') || undefined,
  keyRings,
  issuers: openIssuers(openIssuerWeb(core), core.now),
};

export const handler = serve(services, routes.login, (services) => ({
  authorize: async ({ query }) => redirectResponse(await authorize(services, query)),
  login: json((request) => answered(signIn(services, request))),
  method: json(async ({ body }) => jsonResponse(200, readMethod(body))),
  clientInfo: ({ params: { clientId } }) => answered(readClientInfo(services, clientId)),
  chooseProfile: json(({ body }) => answered(chooseProfile(services, body))),
  verifyMfa: json(({ body }) => answered(verifyMfa(services, body))),
  enrollMfaInLogin: json(({ body }) => answered(enrollMfaInLogin(services, body))),
  resetPassword: json((request) => done(resetPassword(services, request))),
  invitation: json(({ body }) => answered(readInvitation(services, body))),
  setPassword: json((request) => done(setPassword(services, request))),
  undoAddress: json(({ body }) => done(undoAddress(services, body))),
  verifyEmail: json(async (request) =>
    done(verifyEmail(services, { ...request, caller: await callerIfAny(services, request) })),
  ),

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
