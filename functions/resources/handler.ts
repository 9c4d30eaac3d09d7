import type { Caller } from '../../shared/access/access-token.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { noteShown } from '../../shared/disclosure.ts';
import { requireVariable } from '../../shared/env.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { frontDoor } from '../../shared/http/front-door.ts';
import { json } from '../../shared/http/json-body.ts';
import { accepted, allOk } from '../../shared/http/outcome.ts';
import { readdressed } from '../../shared/http/readdressed.ts';
import { decodeUtf8, type HttpRequest } from '../../shared/http/request.ts';
import { fhirResponse, type HttpResponse, jsonResponse } from '../../shared/http/response.ts';
import { serve } from '../../shared/http/serve.ts';
import { isResourceType } from '../../shared/index/registry.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { allRoutes, routes } from '../routes.ts';
import { answerBinary, answerRead, answerWrite } from './answer.ts';
import { readEntry } from './bundle/read-entry.ts';
import { runBundle } from './bundle/run-bundle.ts';
import { answerFile, answerState } from './export/answer-export.ts';
import { beginExport } from './export/begin-export.ts';
import { cancelExport, fetchExport, readExport } from './export/read-export.ts';
import { asAsked, isExtended } from './extended.ts';
import { capabilityStatement } from './metadata/capability-statement.ts';
import { cancelRun, readRun } from './read/cancel-run.ts';
import { explainMember } from './read/explain-member.ts';
import { operationParameters } from './read/operation-parameters.ts';
import { readBinary } from './read/read-binary.ts';
import { readEverything } from './read/read-everything.ts';
import { readHistory } from './read/read-history.ts';
import { cancelJob, readJob } from './read/read-job.ts';
import { readResource } from './read/read-resource.ts';
import { readTypeHistory } from './read/read-type-history.ts';
import { searchResources } from './read/search-resources.ts';
import { searchTypes } from './read/search-types.ts';
import { refuseUnknown, refuseUnknownType } from './unknown-route.ts';
import { validateResource } from './validate-resource.ts';
import { carryOut } from './write/carry-out.ts';
import { changeUser } from './write/change-user.ts';
import { parseBody, requireResource } from './write/parse-resource.ts';
import { parseCreate, parseDelete, parsePatchRequest, parseUpdate } from './write/parse-write.ts';
import type { Outcome, Write } from './write/write.ts';

const core = coreServices(process.env);
const { keyRings, dataKeys } = stageKeys(requireVariable(process.env, 'KEYS'), core.table, ['run-token']);
const allowsLoopback = process.env.PORTICO_ALLOW_LOOPBACK_HOOKS === '1';
const services = {
  ...core,
  runTokenKeys: keyRings['run-token'],
  subscriptions: { dataKeys, allowsLoopback },
};
const startedAt = new Date(services.now()).toISOString();

const served = serve(services, routes.resources, (services) => ({
  metadata: async (request) =>
    ok(capabilityStatement(services.baseUrl, startedAt, { isExtended: isExtended(request) }), request),
  bundle: async (request) => {
    const body = requireResource(parseBody(request.bytes(), request.headers['content-type']), 'Bundle');
    const own = { ...services, carryOut, readEntry };
    return ok(await runBundle(own, request.caller, body, isQuiet(request)), request);
  },
  search: async (request) => {
    const search = { type: typeOf(request.params), query: request.query };
    return ok(await searchResources(services, request.caller, search), request);
  },
  searchTypes: async (request) =>
    ok(await searchTypes(services, request.caller, { query: request.query }), request),
  searchTypesByPost: async (request) => {
    const search = { query: formOf(request), isPrivate: true };
    return ok(await searchTypes(services, request.caller, search), request);
  },
  searchCompartment: async (request) => {
    const { caller, params, query } = request;
    // API Gateway may find this route for the history of a Patient: either has one literal segment.
    if (params.resourceType === '_history') {
      return ok(await readHistory(services, caller, { type: 'Patient', id: idOf(request), query }), request);
    }
    return ok(await searchResources(services, caller, { ...compartmentOf(request), query }), request);
  },
  searchCompartmentByPost: async (request) => {
    const search = { ...compartmentOf(request), query: formOf(request), isPrivate: true };
    return ok(await searchResources(services, request.caller, search), request);
  },
  searchByPost: async (request) => {
    const search = { type: typeOf(request.params), query: formOf(request), isPrivate: true };
    return ok(await searchResources(services, request.caller, search), request);
  },
  create: (request) => write(services, request, parseCreate(typeOf(request.params), request)),
  update: (request) => write(services, request, parseUpdate(typeOf(request.params), idOf(request), request)),
  conditionalUpdate: (request) =>
    write(services, request, parseUpdate(typeOf(request.params), undefined, request)),
  patch: (request) =>
    write(services, request, parsePatchRequest(typeOf(request.params), idOf(request), request)),
  conditionalPatch: (request) =>
    write(services, request, parsePatchRequest(typeOf(request.params), undefined, request)),
  delete: (request) => write(services, request, parseDelete(typeOf(request.params), idOf(request), request)),
  conditionalDelete: (request) =>
    write(services, request, parseDelete(typeOf(request.params), undefined, request)),
  read: (request) => read(services, request, {}),
  readVersion: (request) => read(services, request, { versionId: request.params.versionId }),
  history: async (request) => {
    const { caller, params, query } = request;
    return ok(
      await readHistory(services, caller, { type: typeOf(params), id: idOf(request), query }),
      request,
    );
  },
  systemHistory: async (request) =>
    ok(await readTypeHistory(services, request.caller, { query: request.query }), request),
  typeHistory: async (request) => {
    const history = { type: typeOf(request.params), query: request.query };
    return ok(await readTypeHistory(services, request.caller, history), request);
  },
  everything: async (request) => {
    const { caller, query } = request;
    return ok(await readEverything(services, caller, { id: idOf(request), query }), request);
  },
  everythingByPost: async (request) => {
    const body = request.bytes() && parseBody(request.bytes(), request.headers['content-type']);
    const wanted = { id: idOf(request), query: operationParameters(body, request.query) };
    return ok(await readEverything(services, request.caller, wanted), request);
  },
  explain: json(async ({ caller, params, body }) =>
    fhirResponse(200, await explainMember(services, caller, { membershipId: params.id, body })),
  ),
  validate: async (request) => {
    const body = parseBody(request.bytes(), request.headers['content-type']);
    return ok(
      await validateResource(services, request.caller, { type: typeOf(request.params), body }),
      request,
    );
  },
  validateNext: async (request) => {
    const body = parseBody(request.bytes(), request.headers['content-type']);
    const input = { type: typeOf(request.params), id: idOf(request), body };
    return ok(await validateResource(services, request.caller, input), request);
  },
  export: (request) => startExport(services, request, request.query),
  exportByPost: async (request) => {
    const body = request.bytes() && parseBody(request.bytes(), request.headers['content-type']);
    return startExport(services, request, operationParameters(body, request.query));
  },
  exportStatus: async ({ caller, params }) => answerState(await readExport(services, caller, params)),
  cancelExport: async ({ caller, params }) => {
    await cancelExport(services, caller, params);
    return fhirResponse(202, allOk());
  },
  exportFile: async ({ caller, params, headers }) =>
    answerFile(await fetchExport(services, caller, params), headers['accept-encoding']),
  jobStatus: async (request) => {
    const job = await readJob(services, request.caller, request.params);
    const isUnderWay = job.status === 'accepted' || job.status === 'active';
    return isUnderWay ? fhirResponse(202, asAsked(job, request), { 'retry-after': '1' }) : ok(job, request);
  },
  cancelJob: async ({ caller, params }) => {
    await cancelJob(services, caller, params);
    return fhirResponse(202, allOk());
  },
  runStatus: async ({ caller, params }) => jsonResponse(200, await readRun(services, caller, params)),
  cancelRun: async ({ caller, params }) => {
    await cancelRun(services, caller, params);
    return fhirResponse(202, allOk());
  },
  unknown: async ({ method, rawPath }) => {
    throw refuseUnknown(method, rawPath);
  },
}));

const anywhere = readdressed(served, {
  routes: allRoutes,
  isOwn: (route) => route.function === 'resources',
});

export const handler = frontDoor(core, anywhere);

type Calling = HttpRequest & { caller: Caller };

async function write(services: Services, request: Calling, one: Write): Promise<HttpResponse> {
  const outcome = await writeOne(services, request.caller, one);
  return answerWrite(services.baseUrl, outcome, request);
}

/** A User is above Projects: no policy speaks of it, and its own rules do. */
async function writeOne(services: Services, caller: Caller, one: Write): Promise<Outcome> {
  const isUsers = one.type === 'User' && (one.kind === 'update' || one.kind === 'patch');
  if (isUsers) return changeUser(services, caller, one);
  const [outcome] = await carryOut(services, caller, [one]);
  if (!outcome) throw new Error('A write came to nothing');
  return outcome;
}

async function startExport(
  services: Services,
  { caller, headers }: Calling,
  query: URLSearchParams,
): Promise<HttpResponse> {
  const url = `${services.baseUrl}/fhir/R4/$export${query.size > 0 ? `?${query}` : ''}`;
  const id = await beginExport(services, caller, { query, prefer: headers.prefer, url });
  const location = `${services.baseUrl}/fhir/R4/bulkdata/export/${id}`;
  return fhirResponse(202, accepted(location), { 'content-location': location });
}

async function read(
  services: Services,
  request: Calling & { params: { resourceType: string; id: string } },
  version: { versionId?: string },
): Promise<HttpResponse> {
  const { caller, params } = request;
  const wanted = { id: idOf(request), ...version };
  const type = typeOf(params);
  if (type === 'Binary') return answerBinary(await readBinary(services, caller, wanted), request);
  return answerRead((await readResource(services, caller, { type, ...wanted })).resource, request);
}

function typeOf({ resourceType: type }: { resourceType: string }): string {
  if (!isResourceType(type)) throw refuseUnknownType(type);
  return type;
}

function compartmentOf(request: HttpRequest & { params: { id: string; resourceType: string } }) {
  const type = typeOf(request.params);
  const id = idOf(request);
  if (!isId(id)) throw new Refusal('not-found', 'Not found');
  return { type, within: `Patient/${id}` };
}

/** An operation such as `$execute` stands where an id would, under another method. */
function idOf({ method, rawPath, params: { id } }: HttpRequest & { params: { id: string } }): string {
  if (id.startsWith('$')) throw refuseUnknown(method, rawPath);
  return id;
}

/** R4: the parameters of `_search` come as a form, in the URL, or both. */
function formOf({ bytes, headers, query }: HttpRequest): URLSearchParams {
  const body = bytes();
  if (body === undefined) return query;
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'Content-Type must be application/x-www-form-urlencoded');
  }
  return new URLSearchParams([...query, ...new URLSearchParams(decodeUtf8(body))]);
}

/** @throws {Refusal} invalid for a word that means nothing, so that nobody is told of what was to be quiet */
function isQuiet({ headers: { 'x-portico-events': events } }: HttpRequest): boolean {
  if (events === undefined || events === 'none') return events === 'none';
  throw new Refusal('invalid', 'X-Portico-Events can be none');
}

function ok(body: object, request: HttpRequest): HttpResponse {
  noteShown(request.disclosure, body);
  return fhirResponse(200, asAsked(body, request));
}
