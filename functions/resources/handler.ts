import { requireVariable } from '../../shared/base/env.ts';
import { Refusal } from '../../shared/base/refusal.ts';
import { isId } from '../../shared/base/resource.ts';
import { readQuery } from '../../shared/base/schema.ts';
import { cancelRun, readRun } from '../../shared/bots/run/cancel.ts';
import { noteShown } from '../../shared/carry/disclosure.ts';
import { decodeUtf8, type HttpRequest, json } from '../../shared/carry/http/request.ts';
import {
  accepted,
  answered,
  done,
  fhirResponse,
  type HttpResponse,
} from '../../shared/carry/http/response.ts';
import type { Services } from '../../shared/carry/services.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { readdressed } from '../../shared/identity/gate/readdressed.ts';
import { frontDoor, serve } from '../../shared/identity/gate/serve.ts';
import {
  answerBinary,
  answerRead,
  answerWrite,
  asAsked,
  isExtended,
  refuseUnknown,
  refuseUnknownType,
} from '../../shared/records/answer.ts';
import { readEntry, runBundle } from '../../shared/records/bundle/run-bundle.ts';
import { beginExport } from '../../shared/records/export/begin-export.ts';
import {
  answerFile,
  answerState,
  cancelExport,
  fetchExport,
  readExport,
} from '../../shared/records/export/read-export.ts';
import { capabilityStatement } from '../../shared/records/metadata/capability-statement.ts';
import { operationParameters, readEverything } from '../../shared/records/read/everything.ts';
import { explainMember } from '../../shared/records/read/explain.ts';
import { readHistory, readTypeHistory } from '../../shared/records/read/history.ts';
import { cancelJob, readJob } from '../../shared/records/read/read-job.ts';
import { readBinary, readResource } from '../../shared/records/read/read-resource.ts';
import { searchResources, searchTypes } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { changeUser } from '../../shared/records/write/change-user.ts';
import { parseBody, requireResource } from '../../shared/records/write/parse-resource.ts';
import { validateResource } from '../../shared/records/write/validate-resource.ts';
import { parseWrite, type Write, type WriteOutcome } from '../../shared/records/write/write.ts';
import { isResourceType } from '../../shared/store/index/registry.ts';
import { allRoutes, routes } from '../routes.ts';

const core = coreServices(process.env, 'resources');
const { keyRings, dataKeys } = stageKeys(requireVariable(process.env, 'KEYS'), core.table, ['run-token']);
const allowsLoopback = process.env.PORTICO_ALLOW_LOOPBACK_HOOKS === '1';
const services = {
  ...core,
  runTokenKeys: keyRings['run-token'],
  subscriptions: { dataKeys, allowsLoopback },
};
const startedAt = new Date(services.now()).toISOString();

const served = serve(services, routes.resources, (services) => ({
  metadata: (request) =>
    ok(request, capabilityStatement(services.baseUrl, startedAt, { isExtended: isExtended(request) })),
  bundle: async (request) => {
    const body = requireResource(parseBody(request), 'Bundle');
    const own = { ...services, carryOut, readEntry };
    return ok(request, runBundle(own, request.caller, body, isQuiet(request)));
  },
  search: async (request) => {
    const search = { type: typeOf(request.params), query: request.query };
    return ok(request, searchResources(services, request.caller, search));
  },
  searchTypes: (request) => ok(request, searchTypes(services, request.caller, { query: request.query })),
  searchTypesByPost: async (request) => {
    const search = { query: formOf(request), isPrivate: true };
    return ok(request, searchTypes(services, request.caller, search));
  },
  searchCompartment: async (request) => {
    const { caller, params, query } = request;
    // API Gateway may find this route for the history of a Patient: either has one literal segment.
    if (params.resourceType === '_history') {
      return ok(request, readHistory(services, caller, { type: 'Patient', id: idOf(request), query }));
    }
    return ok(request, searchResources(services, caller, { ...compartmentOf(request), query }));
  },
  searchCompartmentByPost: async (request) => {
    const search = { ...compartmentOf(request), query: formOf(request), isPrivate: true };
    return ok(request, searchResources(services, request.caller, search));
  },
  searchByPost: async (request) => {
    const search = { type: typeOf(request.params), query: formOf(request), isPrivate: true };
    return ok(request, searchResources(services, request.caller, search));
  },
  create: (request) => write(services, request, 'create'),
  update: async (request) => write(services, request, 'update', idOf(request)),
  conditionalUpdate: (request) => write(services, request, 'update'),
  patch: async (request) => write(services, request, 'patch', idOf(request)),
  conditionalPatch: (request) => write(services, request, 'patch'),
  delete: async (request) => write(services, request, 'delete', idOf(request)),
  conditionalDelete: (request) => write(services, request, 'delete'),
  read: (request) => read(services, request, {}),
  readVersion: (request) => read(services, request, { versionId: request.params.versionId }),
  history: async (request) => {
    const { caller, params, query } = request;
    return ok(request, readHistory(services, caller, { type: typeOf(params), id: idOf(request), query }));
  },
  systemHistory: (request) =>
    ok(request, readTypeHistory(services, request.caller, { query: request.query })),
  typeHistory: async (request) => {
    const history = { type: typeOf(request.params), query: request.query };
    return ok(request, readTypeHistory(services, request.caller, history));
  },
  everything: async (request) => {
    const { caller, query } = request;
    return ok(request, readEverything(services, caller, { id: idOf(request), query }));
  },
  everythingByPost: async (request) => {
    const wanted = { query: operationParameters(request), id: idOf(request) };
    return ok(request, readEverything(services, request.caller, wanted));
  },
  explain: json(async ({ caller, params, body }) =>
    fhirResponse(200, await explainMember(services, caller, { membershipId: params.id, body })),
  ),
  validate: async (request) => {
    const input = { body: parseBody(request), type: typeOf(request.params) };
    return ok(request, validateResource(services, request.caller, input));
  },
  validateNext: async (request) => {
    const input = { body: parseBody(request), type: typeOf(request.params), id: idOf(request) };
    return ok(request, validateResource(services, request.caller, input));
  },
  export: (request) => startExport(services, request, request.query),
  exportByPost: async (request) => startExport(services, request, operationParameters(request)),
  exportStatus: async ({ caller, params }) => answerState(await readExport(services, caller, params)),
  cancelExport: ({ caller, params }) => done(cancelExport(services, caller, params), 202),
  exportFile: async ({ caller, params, headers }) =>
    answerFile(await fetchExport(services, caller, params), headers['accept-encoding']),
  jobStatus: async (request) => {
    const job = await readJob(services, request.caller, request.params);
    const isUnderWay = job.status === 'accepted' || job.status === 'active';
    return isUnderWay ? fhirResponse(202, asAsked(job, request), { 'retry-after': '1' }) : ok(request, job);
  },
  cancelJob: ({ caller, params }) => done(cancelJob(services, caller, params), 202),
  runStatus: ({ caller, params }) => answered(readRun(services, caller, params)),
  cancelRun: ({ caller, params }) => done(cancelRun(services, caller, params), 202),
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

async function write(
  services: Services,
  request: Calling & { params: { resourceType: string } },
  kind: Write['kind'],
  id?: string,
): Promise<HttpResponse> {
  const one = parseWrite(kind, typeOf(request.params), id, request);
  const outcome = await writeOne(services, request.caller, one);
  return answerWrite(services.baseUrl, outcome, request);
}

/** A User is above Projects: no policy speaks of it, and its own rules do. */
async function writeOne(services: Services, caller: Caller, one: Write): Promise<WriteOutcome> {
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
  return new URLSearchParams([...query, ...readQuery(decodeUtf8(body))]);
}

/** @throws {Refusal} invalid for a word that means nothing, so that nobody is told of what was to be quiet */
function isQuiet({ headers: { 'x-portico-events': events } }: HttpRequest): boolean {
  if (events === undefined || events === 'none') return events === 'none';
  throw new Refusal('invalid', 'X-Portico-Events can be none');
}

async function ok(request: HttpRequest, work: object | Promise<object>): Promise<HttpResponse> {
  const body = await work;
  noteShown(request.disclosure, body);
  return fhirResponse(200, asAsked(body, request));
}
