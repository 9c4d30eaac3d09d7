import { requireVariable } from '../../shared/base/env.ts';
import { json, optionalJson } from '../../shared/carry/http/request.ts';
import { answered, done, fhirResponse, resourceResponse } from '../../shared/carry/http/response.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { once } from '../../shared/identity/gate/once.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import {
  addIssuer,
  listIssuers,
  removeIssuer,
  testIssuer,
} from '../../shared/identity/issuers/manage-issuers.ts';
import { changeClient, rotateSecret } from '../../shared/identity/memberships/change-client.ts';
import { resendInvitation, revokeInvitation } from '../../shared/identity/memberships/change-invitation.ts';
import { changeMember, removeMember } from '../../shared/identity/memberships/change-member.ts';
import { createClient, readClient } from '../../shared/identity/memberships/clients.ts';
import { listMembers } from '../../shared/identity/memberships/list-members.ts';
import { readMember } from '../../shared/identity/memberships/member.ts';
import { changeProject, readProject } from '../../shared/identity/projects/project.ts';
import { endEmergency } from '../../shared/identity/sign-in/emergency.ts';
import { setMemberPassword } from '../../shared/identity/sign-in/passwords.ts';
import { routes } from '../routes.ts';

const core = coreServices(process.env, 'members');
const services = {
  ...core,
  keyRings: stageKeys(requireVariable(process.env, 'KEYS'), core.table, ['issuer-secret']).keyRings,
  issuers: openIssuers(openIssuerWeb(core), core.now),
};

export const handler = serve(services, routes.members, (services) => ({
  project: ({ caller }) => answered(readProject(services, caller)),
  changeProject: json(({ caller, body }) => answered(changeProject(services, caller, body))),
  members: async ({ caller, query }) => fhirResponse(200, await listMembers(services, caller, query)),
  member: async ({ caller, params }) => resourceResponse(200, await readMember(services, caller, params)),
  changeMember: json(async ({ caller, params, body }) =>
    resourceResponse(200, await changeMember(services, caller, { ...params, body })),
  ),
  removeMember: ({ caller, params }) => done(removeMember(services, caller, params)),
  resendInvitation: async ({ caller, params }) =>
    resourceResponse(200, await resendInvitation(services, caller, params)),
  revokeInvitation: async ({ caller, params }) =>
    resourceResponse(200, await revokeInvitation(services, caller, params)),
  endEmergency: ({ caller, params }) => done(endEmergency(services, caller, params)),
  setMemberPassword: json(({ caller, body }) => done(setMemberPassword(services, caller, body))),
  // As clients of other servers call it, which name no Project.
  setPasswordInOwnProject: json(({ caller, body }) => done(setMemberPassword(services, caller, body))),
  createClient: json(
    once(services, {
      windowMs: 20_000,
      afterCrash: 'refuse',
      run: ({ caller, body }) => createClient(services, caller, body),
      // The secret is nowhere but in the first answer.
      keep: ({ secret: _shownOnce, ...client }) => client,
      answer: (client) =>
        fhirResponse(201, client, { location: `${services.baseUrl}/fhir/R4/ClientApplication/${client.id}` }),
    }),
  ),
  client: ({ caller, params }) => answered(readClient(services, caller, params)),
  changeClient: json(({ caller, params, body }) =>
    answered(changeClient(services, caller, { ...params, body })),
  ),
  rotateSecret: optionalJson(async ({ caller, params, receivedAtMs, body }) =>
    fhirResponse(200, await rotateSecret(services, caller, { ...params, receivedAtMs, body })),
  ),
  issuers: ({ caller }) => answered(listIssuers(services, caller)),
  addIssuer: json(({ caller, body }) => answered(addIssuer(services, caller, body))),
  testIssuer: ({ caller, params }) => answered(testIssuer(services, caller, params)),
  removeIssuer: ({ caller, params }) => done(removeIssuer(services, caller, params)),
}));
